"""Text that breaks tokenizers, and a strategy that mixes it; the tokenizer tests share it."""

from hypothesis import strategies as st

from bertcore.model.tokenizer import SPECIAL_TOKENS

PARAGRAPH = (
    "The river bank was steep. It had rained, and the water ran fast; nobody crossed it. "
    "Crossing rivers in the rain is unwise! She sat by the bank, embedding stones in the mud. "
    "Wer über die Straße geht, sieht die Brücke. Ça va? Él comió piñas. Ήταν όμορφα. "
    "日本語 と 中文 の 文字 한국어 텍스트 Привет мир שלום עולם مرحبا नमस्ते "
) * 3
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789 [ ] < > / ? ! ' - , . é É \U00011938"

NASTY = [
    "",
    " ",
    "\t\r\n",
    "a",
    "The river bank was steep.",
    "don't-stop (ever)... really?!",
    "naïve café Él über ÅNGSTRÖM",
    "cafe\u0301 e\u0301\u0323\u0302x a\u0323\u0301",
    "\u0301leading mark",
    "x\u0344\u0323y \u0f73\u0f71",
    "\U0001d165\u302e\u0334 \u1939\u0301",
    "日本語と中文 mixed日文text",
    "\u3400\u4dbf\U00020000\U0002a6df\U0002b820\U0002b920\U0002ceaf\uf900\U0002f800\U00030000",
    "한국어 텍스트 가각힣 \u1112\u1161\u11ab",
    "👩‍👩‍👧‍👦 family 👍🏽 🇩🇪",
    "zero\u200bwidth soft\u00adhyphen bom\ufeff word\u2060joiner",
    "control\x01\x02 char\x7f \x0b\x0c form\x0cfeed \x85 nel",
    "nul\x00inside \x00 \ufffd replaced\ufffd",
    "no\u00a0break\u2003em\u3000wide\u2028line\u2029para",
    "שלום עולם \u202eright to left\u202c مرحبا",
    "İstanbul Iı İ",
    "Straße STRASSE ẞ",
    "ﬁ ﬂ ﬀ ﬆ ligatures Ǆ ǅ",
    "ΟΔΥΣΣΕΥΣ όμορφα ς Σ",
    "a" * 99,
    "a" * 100,
    "a" * 101,
    "a" * 200,
    "é" * 100 + " " + "é" * 101,
    "İ" * 60,
    "</script><b>&amp;",
    "$5 €5 £5 + = ~ ^ ` | _ a_b",
    "≠ ≮ \u037e \u0387 \u1fef \u1fed",
    "“quotes” «guillemets» „low“ ‹x›—dash–dash",
    "。，、！？「」",
    "[MASK]",
    "the [MASK] was [MASK].",
    "x[MASK]y[CLS][SEP][PAD][UNK]",
    "[mask] [Mask] [ MASK ] [MASK",
    "[[MASK]]",
    "नमस्ते क्षि ไทย ภาษา",
    "\U00011938 \u1734 \u180f \u1ac1 \u08ca",
    "\U00010400 \u1c90 \ua7cb \U00010d50",
    "word " * 30,
]

texts = st.one_of(
    st.text(max_size=60),
    st.lists(
        st.one_of(
            st.sampled_from([*PARAGRAPH.split()[:60], *NASTY, *SPECIAL_TOKENS, " ", "\n"]),
            st.text(alphabet="éÉe\u0301\u0323aA中 \u00ad.-[]MASK\U00011938\u1939", max_size=8),
        ),
        max_size=8,
    ).map("".join),
)
