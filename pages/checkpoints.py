"""Checkpoints: open one, and see what is inside."""

import streamlit as st

from app import frame

page = frame.begin("checkpoints", needs_text=False)
st.write(page.bert.config.to_hf_dict())
