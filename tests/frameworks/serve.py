"""Serves the shop of one framework: `python serve.py flask 8080`.

The folder of the generated package `shop_errors` is on the path of the process.
"""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

sys.path.remove(str(Path(__file__).parent))  # it holds the folder of other modules of these names
name, port = sys.argv[1:]
place = Path(__file__).parent / "services" / f"{name}.py"
spec = spec_from_file_location(f"shop_in_{name}", place)
module = module_from_spec(spec)
sys.modules[spec.name] = module
spec.loader.exec_module(module)
module.serve(int(port))
