from unsloth.kernels.cross_entropy_loss import Fast_CrossEntropyLoss


def kernel_function(input, target, weight=None, ignore_index=-100, reduction="mean"):
    classes = input.shape[1]
    rows = input.movedim(1, -1).reshape(-1, classes).contiguous()
    places = target.reshape(-1)
    counted = places != ignore_index
    losses = Fast_CrossEntropyLoss.apply(rows, places.where(counted, -100))
    if weight is not None:
        counted = weight[places.where(counted, 0)] * counted
        losses = losses * counted
    if reduction == "none":
        return losses.view(target.shape)
    return losses.sum() if reduction == "sum" else losses.sum() / counted.sum()
