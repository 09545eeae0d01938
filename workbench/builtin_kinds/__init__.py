"""The kinds of join that the workbench has, a package for each."""
