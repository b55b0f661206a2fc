"""The one function that `pip download` calls: nothing is built."""

import os
import re
import shutil


def prepare_metadata_for_build_wheel(folder, settings=None):
    """Hands over the metadata that every source package has in PKG-INFO."""
    with open("PKG-INFO", encoding="utf-8") as file:
        text = file.read()
    name, version = (re.search(rf"^{field}: (.*)$", text, re.M).group(1).strip() for field in ("Name", "Version"))
    about = f"{name.replace('-', '_')}-{version}.dist-info"
    os.makedirs(os.path.join(folder, about))
    shutil.copy("PKG-INFO", os.path.join(folder, about, "METADATA"))
    return about
