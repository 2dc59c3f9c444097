"""The lint rules of a project, for the commands that run or explain them."""

from faultspec.lint.extensions import Extensions, load_rules
from faultspec.lint.style import style_rules
from faultspec.project import Project
from faultspec.project.reading import find_unknown_rules


def project_rules(project: Project | None) -> Extensions:
    """The lint rules of a project beside the shipped ones: those of its style, and those of the
    packages that it names, which are imported. The diagnostics are of the project file.
    """
    if project is None:
        return Extensions()
    loaded = load_rules(project.rules, project.document) if project.rules else Extensions()
    rules = (*style_rules(project.style), *loaded.rules)
    unknown = () if loaded.diagnostics else find_unknown_rules(project, [one.id for one in rules])
    return Extensions(rules, (*loaded.diagnostics, *unknown))
