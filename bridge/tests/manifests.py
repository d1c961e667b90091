"""Holds the manifests of deploy/ against what Ray's autoscaler reads of them, and against the version of Ray that is here."""

import pathlib

import ray
import yaml
from ray.autoscaler._private.kuberay.autoscaling_config import _derive_autoscaling_config_from_ray_cr
from ray.autoscaler._private.util import prepare_config, validate_config

DEPLOY = pathlib.Path(__file__).resolve().parent.parent.parent / "deploy"


def check(config, text):
    validate_config(config)
    head, gpu = (config["available_node_types"][name] for name in (config["head_node_type"], "gpu"))
    assert head["resources"]["CPU"] == 0, head
    assert gpu["resources"]["GPU"] == 8, gpu
    assert gpu["max_workers"] == config["max_workers"] == 16
    assert ray.__version__ in text


def main():
    text = (DEPLOY / "ray-cluster.yaml").read_text()
    check(prepare_config(yaml.safe_load(text)), text)
    text = (DEPLOY / "kuberay.yaml").read_text()
    cluster = yaml.safe_load(text)
    cluster["metadata"]["namespace"] = "default"  # As Kubernetes does.
    assert cluster["spec"]["enableInTreeAutoscaling"]
    check(_derive_autoscaling_config_from_ray_cr(cluster), text)


if __name__ == "__main__":
    main()
