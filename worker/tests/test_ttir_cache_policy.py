"""How Triton 3.9 writes what a load or store wants of caches."""

import pytest
import torch
from ttir_launch import launch_on_tensors

from kbx.ttir.executor import Kernel

TEXT = """
module {
  tt.func public @k(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>) {
    %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
    %a = tt.splat %x : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
    %b = tt.addptr %a, %i : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    %c = tt.load %b {cachePolicy = #tt.cache_policy<cache_modifier = MODIFIER, eviction_policy = evict_last>} : tensor<8x!tt.ptr<f32>>
    %d = tt.splat %y : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
    %e = tt.addptr %d, %i : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    tt.store %e, %c {cachePolicy = #tt.cache_policy<cache_modifier = none, eviction_policy = evict_first>} : tensor<8x!tt.ptr<f32>>
    tt.return
  }
}
"""


@pytest.mark.parametrize("modifier, volatile", [("none", False), ("cg", False), ("cv", True)])
def test_policy_is_a_hint_but_for_volatile_loads(modifier, volatile):
    kernel = Kernel(TEXT.replace("MODIFIER", modifier))
    x, y = torch.randn(8), torch.zeros(8)
    assert launch_on_tensors(kernel, (1,), (x, y)) == []
    assert torch.equal(x, y)
    loads = [each for each in kernel.function.walk() if each.name == "tt.load"]
    assert [load.is_volatile for load in loads] == [volatile]
