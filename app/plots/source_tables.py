"""Tables whose rows name their sources, as Markdown with links."""

from collections.abc import Container, Iterable

from bertcore.lessons.papers import Literature, Source


def contrasts(literature: Literature) -> str:
    """Return the Transformer, ELMo, GPT and BERT side by side, a row an aspect."""
    rows = [
        (
            f"**{contrast.aspect}**",
            contrast.transformer,
            contrast.elmo,
            contrast.gpt,
            contrast.bert,
            links(contrast.source),
        )
        for contrast in literature.contrasts
    ]
    head = ("Aspect", "Transformer (2017)", "ELMo (2018)", "GPT (2018)", "BERT (2018)", "Source")
    return markdown_table(head, rows)


def links(sources: Iterable[Source]) -> str:
    """Return sources as Markdown links; Streamlit opens them in a new tab."""
    return "; ".join(
        f"[{source.paper.short}]({source.paper.url}), {source.where}" for source in sources
    )


def markdown_table(
    head: tuple[str, ...], rows: Iterable[tuple[str, ...]], *, right: Container[str] = ()
) -> str:
    """Return a table of a head and rows of Markdown cells; columns of `right` are flush right."""
    lines = [head, tuple("--:" if name in right else "---" for name in head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
