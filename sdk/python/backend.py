"""Builds the wheel and the source archive: a backend of PEP 517 that needs nothing but Python.

The package is a folder of Python files. With this, pip installs it from a copy of the repository without a network, and
the same files make the same archive.
"""

import base64
import hashlib
import io
import pathlib
import tarfile
import tomllib
import zipfile

HERE = pathlib.Path(__file__).parent
PROJECT = tomllib.loads((HERE / "pyproject.toml").read_text("utf-8"))["project"]
NAME, VERSION = PROJECT["name"], PROJECT["version"]
INFO = f"{NAME}-{VERSION}.dist-info"
EPOCH = (1980, 1, 1, 0, 0, 0)  # the first time that a zip can have


def metadata() -> str:
    lines = [
        "Metadata-Version: 2.4",
        f"Name: {NAME}",
        f"Version: {VERSION}",
        f"Summary: {PROJECT['description']}",
        f"License-Expression: {PROJECT['license']}",
        *(f"License-File: {name}" for name in PROJECT["license-files"]),
        f"Requires-Python: {PROJECT['requires-python']}",
        "Description-Content-Type: text/markdown",
    ] + [f"Classifier: {c}" for c in PROJECT["classifiers"]]
    return "\n".join(lines) + "\n\n" + (HERE / "README.md").read_text("utf-8")


def sources() -> list[pathlib.Path]:
    return sorted(p for p in (HERE / "src").rglob("*") if p.suffix == ".py" or p.name == "py.typed")


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    files = {p.relative_to(HERE / "src").as_posix(): p.read_bytes() for p in sources()}
    files |= {f"{INFO}/licenses/{name}": (HERE / name).read_bytes() for name in PROJECT["license-files"]}
    files[f"{INFO}/METADATA"] = metadata().encode()
    files[f"{INFO}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: unitask\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    record = [f"{name},sha256={digest(data)},{len(data)}" for name, data in files.items()]
    files[f"{INFO}/RECORD"] = "\n".join([*record, f"{INFO}/RECORD,,", ""]).encode()
    name = f"{NAME}-{VERSION}-py3-none-any.whl"
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as z:
        for path, data in files.items():
            z.writestr(zipfile.ZipInfo(path, EPOCH), data, zipfile.ZIP_DEFLATED)
    return name


def build_sdist(sdist_directory, config_settings=None):
    name = f"{NAME}-{VERSION}"
    tops = ["pyproject.toml", "README.md", *PROJECT["license-files"], "backend.py"]
    with tarfile.open(pathlib.Path(sdist_directory) / f"{name}.tar.gz", "w:gz", format=tarfile.PAX_FORMAT) as t:
        for path in [*(HERE / name for name in tops), *sources()]:
            add(t, f"{name}/{path.relative_to(HERE).as_posix()}", path.read_bytes())
        add(t, f"{name}/PKG-INFO", metadata().encode())
    return f"{name}.tar.gz"


def add(archive: tarfile.TarFile, name: str, data: bytes) -> None:
    info = tarfile.TarInfo(name)
    info.size = len(data)
    archive.addfile(info, io.BytesIO(data))


def digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
