"""A page of ten elements, run by Streamlit, whose text has no consequence."""

import streamlit as st

if __name__ == "__main__":
    st.title("Empty")
    text = st.text_area("Sentence A", "The fisherman sat on the bank of the river.", key="text_a")
    for number in range(8):
        st.markdown(f"{number}: {text}")
