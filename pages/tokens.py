"""Tokens & embeddings: the input of BERT, taken apart."""

import streamlit as st

from app import frame

page = frame.begin("tokens")
st.write(page.trace.tokens)
