"""What a run says where code of the user's that takes part in it went wrong."""

import torch

from engine.build.user_code import in_running_words
from engine.environments.gang import is_lost_peer
from engine.errors import RunError, UserError


def failure(error: BaseException, file: str) -> BaseException:
    """What a run fails with where code of the user's in this file went wrong: with the line of it, unless the fault is
    not its own."""
    if not isinstance(error, Exception | SystemExit) or isinstance(error, UserError | MemoryError):
        return error
    if isinstance(error, torch.OutOfMemoryError) or is_lost_peer(error):
        return error
    return RunError(in_running_words(error, file))
