"""Where work runs, by name: PyTorch is imported for those who ask for one of its devices, and for nobody else."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from hopscale.compute.threads import Threads
from hopscale.exceptions import DeviceError, MissingPackageError, ParameterError, Setting, in_short

if TYPE_CHECKING:
    from hopscale.compute.torch import Torch

__all__ = ["TORCH_ON_PROCESSOR", "checked_device", "engine_on"]

TORCH_ON_PROCESSOR = "torch-cpu"


def checked_device(name: str, device: Any) -> str | None:
    """The name of a device, or None: ``"cpu"`` is the processor as well. Whether it is there is not looked at.

    >>> checked_device("device", "cuda:1")
    'cuda:1'
    """
    if device is None or (isinstance(device, str) and device == "cpu"):
        return None
    if not isinstance(device, str) or not re.fullmatch(rf"cuda(:\d{{1,4}})?|{TORCH_ON_PROCESSOR}", device):
        raise ParameterError(
            f"must be 'cuda', 'cuda:0', 'cuda:1', ..., {TORCH_ON_PROCESSOR!r}, or None for threads of the processor, "
            f"not {in_short(device)}",
            parameter=name,
        )
    return device


def engine_on(device: str | None, n_jobs: int | None, *, verbose: bool = False) -> Threads | Torch:
    """The engine of a device, which must be there."""
    device = checked_device("device", device)
    if device is None:
        return Threads(n_jobs, verbose=verbose)
    try:
        from hopscale.compute.torch import Torch
    except ImportError as error:
        raise MissingPackageError(
            Setting("device", device),
            f' needs PyTorch ({error}): pip install "hopscale[torch]", or leave ',
            Setting("device"),
            " out to compute on the processor",
        ) from error
    import torch

    if device == TORCH_ON_PROCESSOR:
        return Torch(torch.device("cpu"), verbose=verbose)
    here = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if int(device.partition(":")[2] or 0) >= here:
        raise DeviceError(
            f"is not there: PyTorch {torch.__version__} sees {here or 'no'} CUDA device{'' if here == 1 else 's'}. "
            "Look at nvidia-smi, and whether PyTorch was built for CUDA, or leave ",
            Setting("device"),
            " out to compute on the processor",
            parameter="device",
            value=device,
        )
    return Torch(torch.device(device), verbose=verbose)
