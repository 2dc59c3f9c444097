"""The grammar of `faultspec.yaml`: its keys and their values."""

from faultspec.language.grammar import (
    Choice,
    Either,
    Flag,
    Integer,
    Key,
    Many,
    Named,
    Nothing,
    Record,
    Text,
)

#: Relative, with `/` on every platform, so that the file means the same on every machine; without
#: control characters and signs that turn the direction of a text, which nobody sees in a review.
_HIDDEN = r"\0-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff"
_PATH = Text(
    rf"(?!/)(?![A-Za-z]:)[^\\{_HIDDEN}]*[^\\\s{_HIDDEN}]",
    "a path relative to this file, such as `api/errors.yaml`",
)
_NAME = r"[A-Za-z_][A-Za-z0-9_$-]*"
_SQL = Record(
    "the views of the target `sql`",
    {
        "dialect": Key(
            Choice(("duckdb", "postgres", "spark", "bigquery")),
            "The dialect of SQL. Default: `duckdb`.",
        ),
        "record": Key(
            Text(),
            "The kind of `telemetry: records:` that says which column has what. Default: each kind "
            "gets its views.",
        ),
        "table": Key(
            Text(rf"{_NAME}(\.{_NAME}){{0,2}}", "the name of a table, such as `logs.access`"),
            "The table with the exchanges. Default: a table with the name of the kind.",
        ),
    },
)
_TARGET_NAME = Text(r"[a-z][a-z0-9_-]*", "the name of a target, such as `python`")
_TAXONOMY = Record(
    "a taxonomy of the project",
    {
        "targets": Key(
            Either((Many(_TARGET_NAME, 1), Named(_PATH, _TARGET_NAME))),
            "The targets that are compiled: each with its own folder, such as "
            "`{python: src/shop/errors}`, or a list of those that go into `out`. Default: all but "
            "`go`, `java`, `sql` and `vectors`.",
        ),
        "out": Key(
            _PATH,
            "The folder of the targets without a folder of their own, each in a folder of its "
            "name. Default, if no target has its own: `generated` beside the taxonomy.",
        ),
        "templates": Key(
            _PATH, "A folder with templates that replace shipped ones or add targets."
        ),
        "ledger": Key(_PATH, "The ledger of the changes that `faultspec diff` accepts."),
        "sql": Key(_SQL, "How the target `sql` writes its views of a table."),
    },
)
_LONGEST = Key(Integer(1), "The most characters.")
_NAMES = Record(
    "a style of names",
    {
        "pattern": Key(
            Text(), "A regular expression of the whole name, such as `[a-z]+(_[a-z]+)*`."
        ),
        "longest": _LONGEST,
    },
)
_TEXTS = Record("a style of texts", {"longest": _LONGEST})
_STYLE = Record(
    "the style of the project",
    {
        **{
            names: Key(_NAMES, f"The names of {what}.")
            for names, what in (
                ("codes", "codes, shared and of operations"),
                ("details", "details"),
                ("operations", "operations"),
                ("domains", "domains"),
                ("boundaries", "boundaries"),
            )
        },
        "summary": Key(_TEXTS, "The summaries of codes."),
        "message": Key(_TEXTS, "The messages of codes, in every language."),
    },
)
PROJECT = Record(
    "the project file",
    {
        "taxonomies": Key(
            Either((Many(_PATH, 1), Named(Either((Nothing(), _TAXONOMY)), _PATH, least=1))),
            "The taxonomies, by path: a list, or each with its targets. Default: `taxonomy.yaml` "
            "beside this file.",
        ),
        "lint": Key(
            Named(Choice(("error", "warning", "note", "off"))),
            "The severity of lint rules, by the id of the rule. `off` silences the rule.",
        ),
        "style": Key(
            _STYLE,
            "The style of names and texts, which `faultspec lint` checks: `name-style` and "
            "`text-length`.",
        ),
        "rules": Key(
            Many(Text(r"[A-Za-z0-9][A-Za-z0-9._-]*", "the name of an entry point"), 1),
            "Lint rules of installed packages: names of entry points of the group "
            "`faultspec.lint`. `faultspec lint` and `explain` import them.",
        ),
        "against": Key(
            Text(r"[^\s\0-][^\s\0]*", "a git revision, such as `main` or `origin/main`"),
            "The git revision that `faultspec diff` compares with.",
        ),
        "ledger": Key(
            _PATH,
            "The ledger of the changes that `faultspec diff` accepts, if the file has one "
            "taxonomy. Of several, each has its own.",
        ),
        "conformance": Key(
            Either((_PATH, Many(_PATH, 1))),
            "The conformance files that `faultspec conform` judges services by.",
        ),
        "gitattributes": Key(
            Flag(),
            "Whether `faultspec compile` marks its folders as `linguist-generated` in the "
            "`.gitattributes` beside this file. GitHub folds such files in the diff.",
        ),
    },
)
