import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, rows, width):
        super().__init__()
        self.table = nn.Embedding(rows, width)

    def forward(self, places, count: int):
        return self.table(places) * count


rows, width = 17, 9


def get_inputs():
    return [torch.randint(0, rows, (6, 5), device="cuda"), 3]


def get_init_inputs():
    return [rows, width]
