# The compiled module is private: the Python files beside it have the types and the documentation.
from typing import Any

def __getattr__(name: str) -> Any: ...
