"""The one function that `pip download` calls: nothing is built."""

import os
import shutil


def prepare_metadata_for_build_wheel(folder, settings=None):
    """Hands over the metadata that every source package has in PKG-INFO."""
    name = "downloaded-0.dist-info"
    os.makedirs(os.path.join(folder, name))
    shutil.copy("PKG-INFO", os.path.join(folder, name, "METADATA"))
    return name
