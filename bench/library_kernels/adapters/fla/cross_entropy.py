from fla.modules.fused_cross_entropy.ops import cross_entropy_fwd


def kernel_function(input, target, weight=None, ignore_index=-100, reduction="mean"):
    classes = input.shape[1]
    rows = input.movedim(1, -1).reshape(-1, classes).contiguous()
    places = target.reshape(-1).contiguous()
    losses = cross_entropy_fwd(rows, places, ignore_index=ignore_index)[0]
    counted = places != ignore_index
    if weight is not None:
        counted = weight[places.where(counted, 0)] * counted
        losses = losses * counted
    if reduction == "none":
        return losses.view(target.shape)
    return losses.sum() if reduction == "sum" else losses.sum() / counted.sum()
