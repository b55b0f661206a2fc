"""In the place of the build system of a source package that is only to be downloaded: pip asks it for the package's metadata."""
