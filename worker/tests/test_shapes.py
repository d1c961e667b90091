"""PyTorch on shapes: what is large is not computed, what is small is."""

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from kbx import shapes
from kbx.oracle import taskfile

LARGE = (1 << 12, 1 << 20)  # 16 GiB


def large(*shape, dtype=torch.float32):
    shape = shape or LARGE
    return shapes.blank(shape, torch.empty(shape, device="meta").stride(), dtype)


def test_small_tensors_are_computed():
    with shapes.Shapes():
        x = torch.arange(10.0)
        assert (x * 2).tolist() == [2.0 * i for i in range(10)]
        x[3:].zero_()
        assert x.sum().item() == 3


def test_large_tensors_have_only_shapes():
    with shapes.Shapes():
        x = large()
        assert (x + 1).shape == LARGE
        assert (x[:, :7] @ torch.ones(7, 3)).shape == (1 << 12, 3)
        assert torch.nn.functional.gelu(x.view(-1)).stride() == (1,)
        values, places = x.max(dim=1)
        assert (values.dtype, places.dtype) == (torch.float32, torch.int64)
        assert torch.ones(1, device="cpu").expand(1 << 33).contiguous().numel() == 1 << 33
        assert torch.zeros(LARGE).shape == torch.randn(LARGE).shape == LARGE
        assert x.to(torch.float16).element_size() == 2
        assert torch.cat([x, x]).shape == (1 << 13, 1 << 20)


def test_in_place_updates_return_the_same_tensor():
    with shapes.Shapes():
        x, out = large(), large()
        assert x.mul_(2) is x
        assert torch.exp(x, out=out) is out
        assert torch.nn.init.normal_(x) is x
        x[:3, :3].fill_(7)
        assert x[0, 0].item() == 0, "there is nowhere to write to"


def test_views_share_their_storage():
    with shapes.Shapes():
        x = large(1 << 20)
        assert x.view(1 << 10, -1)[3].data_ptr() == x.data_ptr() + 4 * 3 * (1 << 10)
        assert x.t().data_ptr() == x.data_ptr()


def test_value_dependent_shapes_are_computed_if_cheap():
    with shapes.Shapes():
        assert large(1 << 20).nonzero().shape == (0, 1)
        with pytest.raises(Exception):  # noqa: B017 - whatever PyTorch raises without values
            large().nonzero()


def test_layers_are_constructed_without_memory():
    with shapes.Shapes(), torch.no_grad():
        layer = torch.nn.Linear(1 << 17, 1 << 17)
        assert layer(large(5, 1 << 17)).shape == (5, 1 << 17)


def test_more_than_a_gpu_holds_is_refused():
    with pytest.raises(MemoryError):
        large(1 << 40)


def test_dtypes_equal_those_of_pytorch():
    with shapes.Shapes():
        x, half, whole = large(), large(dtype=torch.float16), large(dtype=torch.int32)
        assert (x > 0).dtype == torch.bool
        assert (whole / 2).dtype == torch.float32
        assert (half * 2.5).dtype == torch.float16
        assert (half + torch.ones(1)).dtype == torch.float32
        assert torch.where(whole > 0, x, half).dtype == torch.float32
        assert torch.zeros_like(whole).dtype == torch.int32
        assert torch.full(LARGE, 3).dtype == torch.int64


def test_results_keep_the_layout_of_their_inputs():
    with shapes.Shapes():
        assert torch.relu(large().t()).stride() == large().t().stride()
        assert (torch.ones(1 << 17, 1) + torch.ones(1, 1 << 17)).stride() == (1 << 17, 1)
        assert torch.relu(large()[:, ::2]).is_contiguous()
        assert large().t().contiguous().is_contiguous()
        images = large(8, 3, 1 << 12, 1 << 12).to(memory_format=torch.channels_last)
        assert torch.relu(images).is_contiguous(memory_format=torch.channels_last)


def test_product_of_small_tensors_may_be_large():
    with shapes.Shapes():
        assert (torch.ones(1 << 16, 1) @ torch.ones(1, 1 << 16)).shape == (1 << 16, 1 << 16)
        assert torch.ones(4, 4).repeat(1 << 14, 1 << 14).shape == (1 << 16, 1 << 16)


def test_inference_mode_computes_nothing():
    with shapes.Shapes(), torch.inference_mode():
        assert large().t().contiguous().is_contiguous()
        assert large().reshape(-1, 2)[:, ::2].contiguous().shape == (1 << 31, 1)
        assert large().to(torch.float16).dtype == torch.float16


def test_dimensions_may_be_turned_in_place():
    with shapes.Shapes():
        assert large().unsqueeze_(0).shape == (1, *LARGE)
        assert large().t_().shape == LARGE[::-1]


def test_permuted_tensors_stay_permuted():
    with shapes.Shapes():
        q = large(3, 1 << 10, 8, 1 << 10)[0].permute(1, 0, 2)
        assert (q * 0.125).transpose(0, 1).view(1 << 10, -1).shape == (1 << 10, 1 << 13)


def test_exact_shapes_do_not_use_absent_values():
    with shapes.Shapes(exact=True):
        assert large()[:, :7].shape == (1 << 12, 7)
        part = large()[0, :5] + 1
        assert part.shape == (5,)
        for look in (part.nonzero, part[0].item, large().max().item, lambda: torch.equal(large(), large())):
            with pytest.raises(shapes.ValuesNeeded):
                look()
        assert torch.arange(4).nonzero().shape == (3, 1), "small ones have their values"
        assert torch.ones(1 << 15).repeat(4).shape == (1 << 17,)


def test_large_tensors_can_be_compared():
    with shapes.Shapes():
        assert isinstance(torch.equal(large(1 << 20), large(1 << 20)), bool)


def test_operations_of_the_candidate_are_carried_out():
    called = []

    @torch.library.custom_op("kbx_test_shapes::own", mutates_args=("y",))
    def own(x: torch.Tensor, y: torch.Tensor) -> None:
        called.append((x + 1).shape)

    with shapes.Shapes():
        own(large(), large())
    assert called == [LARGE]


def layout(tensor):
    return tuple(tensor.shape), tensor.dtype, tensor.stride()


@pytest.mark.parametrize(
    "name",
    ["level1/54_conv_standard_3D__square_input__square_kernel", "level1/89_cumsum", "level2/52_Conv2d_Activation_BatchNorm",
     "level2/18_Matmul_Sum_Max_AvgPool_LogSumExp_LogSumExp", "level3/10_ResNet101", "level3/28_VisionTransformer",
     "level3/31_VisionAttention", "level3/44_MiniGPTBlock", "level3/45_UNetSoftmax", "level3/48_Mamba2ReturnY"],
)  # fmt: skip
def test_networks_give_what_fake_tensors_give(name):
    task = taskfile.load(f"../tasks/kernelbench/{name}.py", "cuda")
    with FakeTensorMode(allow_non_fake_inputs=True), torch.no_grad():
        call = task.call(task.cases[0], task.distributions[0], "shapes")
        expected = layout(task.model(*task.init)(*call.args, **call.kwargs))
    with shapes.Shapes(), torch.no_grad():
        args = [shapes.blank(a.shape, a.stride(), a.dtype) if isinstance(a, torch.Tensor) else a for a in call.args]
        assert layout(task.model(*task.init)(*args, **call.kwargs)) == expected
