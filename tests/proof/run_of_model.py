"""The rows of tests/model/run.py that must fail, as far as they are about what is proven here."""
import importlib.util
import sys
from pathlib import Path


def mutant_rows():
    folder = Path(__file__).resolve().parents[1] / "model"
    sys.path.insert(0, str(folder))
    spec = importlib.util.spec_from_file_location("model_rows", folder / "run.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["model_rows"] = module
    spec.loader.exec_module(module)
    return [row.name for row in module.ROWS if row.expected == module.VIOLATION and module.has_proof(row)]
