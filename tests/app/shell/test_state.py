"""Session state and its URL form, on AppTest."""

from streamlit.testing.v1 import AppTest

from app.shell import state


def run(script, **query):
    at = AppTest.from_function(script, default_timeout=20)
    for name, given in query.items():
        at.query_params[name] = given
    at.run()
    assert not at.exception, at.exception
    return at


def widgets():
    import streamlit as st

    from app.shell import state

    state.begin_run()
    st.text_input("A", key=state.Field("text_a", "hello").key())
    if st.session_state.get("page", 1) == 1:
        st.slider("Layer", 0, 11, key=state.Field("layer", 0).key(low=0, high=11))
        st.selectbox("Mode", ["x", "y"], key=state.Field("mode", "x").key(options=["x", "y"]))
        st.multiselect("Heads", [0, 1, 2], key=state.Field("heads", [0]).key(options=[0, 1, 2]))
        st.toggle("Flip", key=state.Field("flip", False).key())
        st.number_input("Rate", key=state.Field("rate", 0.5).key(low=0.0, high=1.0))
    state.sync_url()


def test_defaults_are_not_written_to_the_address():
    at = run(widgets)
    assert at.slider(key="layer").value == 0
    assert dict(at.query_params) == {}


def test_a_link_sets_every_kind_of_value():
    at = run(widgets, layer="7", mode="y", heads=["1", "2"], flip="1", rate="0.25", text_a="a b")
    assert at.slider(key="layer").value == 7
    assert at.selectbox(key="mode").value == "y"
    assert at.multiselect(key="heads").value == [1, 2]
    assert at.toggle(key="flip").value is True
    assert at.number_input(key="rate").value == 0.25
    assert at.text_input(key="text_a").value == "a b"


def test_nonsense_in_a_link_is_discarded_or_moved_into_range():
    at = run(widgets, layer="99", mode="<script>", heads=["7", "x"], flip="maybe", rate="nan")
    assert at.slider(key="layer").value == 11
    assert at.selectbox(key="mode").value == "x"
    assert at.multiselect(key="heads").value == []
    assert at.toggle(key="flip").value is False
    assert at.number_input(key="rate").value == 0.5


def test_choices_reach_the_address_and_survive_another_page():
    at = run(widgets)
    at.slider(key="layer").set_value(3)
    at.multiselect(key="heads").set_value([2])
    at.run()
    assert at.query_params["layer"] == "3"
    assert at.query_params["heads"] == "2"
    at.session_state["page"] = 2
    at.run()
    assert "layer" not in at.query_params  # this page does not use it
    at.session_state["page"] = 1
    at.run()
    assert at.slider(key="layer").value == 3
    assert at.query_params["layer"] == "3"


def test_long_texts_stay_out_of_the_address():
    at = run(widgets)
    at.text_input(key="text_a").set_value("x" * (state.MAX_URL_CHARACTERS + 1)).run()
    assert "text_a" not in at.query_params
    assert len(at.text_input(key="text_a").value) == state.MAX_URL_CHARACTERS + 1
    at.text_input(key="text_a").set_value("short").run()
    assert at.query_params["text_a"] == "short"


def test_put_and_value_work_without_a_widget():
    def script():
        import streamlit as st

        from app.shell import state

        state.begin_run()
        picked = state.Field("picked", 0)
        picked.put(4)
        picked.key(low=0, high=9)
        st.text(f"{picked.value} {state.Field('unknown', 'none').value}")
        state.sync_url()

    at = run(script)
    assert at.text[0].value == "4 none"
    assert at.query_params["picked"] == "4"


def test_a_value_that_nobody_chose_follows_its_default():
    def script():
        import streamlit as st

        from app.shell import state

        state.begin_run()
        words = st.session_state.get("words", ["old", "cat"])
        key = state.Field("word", "").key(default=words[0], options=["old", "cat", "new"])
        st.selectbox("Word", ["old", "cat", "new"], key=key)
        state.sync_url()

    at = run(script)
    assert at.selectbox(key="word").value == "old"
    at.session_state["words"] = ["new"]
    at.run()
    assert at.selectbox(key="word").value == "new"
    assert "word" not in at.query_params
    at.selectbox(key="word").set_value("cat").run()
    at.session_state["words"] = ["old"]
    at.run()
    assert at.selectbox(key="word").value == "cat"


def test_a_slider_keeps_its_value_within_other_bounds():
    def script():
        import streamlit as st

        from app.shell import state

        state.begin_run()
        high = st.session_state.get("high", 9)
        st.slider("Place", 0, high, key=state.Field("place", 0).key(low=0, high=high))
        state.sync_url()

    at = run(script, place="4")
    for high, kept in ((12, 4), (3, 3)):
        at.session_state["high"] = high
        at.run()
        assert at.slider(key="place").value == kept
        at.run()
        assert at.slider(key="place").value == kept


def test_a_choice_is_sent_again_after_a_page_that_ended_without_it():
    """Streamlit keeps what a stopped run did not draw; the browser drops it and shows the least."""

    def script():
        import streamlit as st

        from app.shell import frame, state

        state.begin_run()
        if st.session_state.get("waits"):
            frame.end_page()
        st.slider("Place", 0, 9, key=state.Field("place", 4).key(low=0, high=9))
        state.sync_url()

    at = run(script)
    assert at.slider(key="place").proto.set_value  # as a new one
    at.run()
    assert not at.slider(key="place").proto.set_value  # nothing that is being moved is moved back
    at.session_state["waits"] = True
    at.run()
    assert not at.slider
    at.session_state["waits"] = False
    at.run()
    slider = at.slider(key="place").proto
    assert (slider.set_value, list(slider.value)) == (True, [4.0])


def test_a_long_text_of_another_box_stays_out_of_the_address():
    def script():
        import streamlit as st

        from app.shell import state

        state.begin_run()
        st.text_area("Document", key=state.Field("document", "").key())
        state.sync_url()

    at = run(script)
    at.text_area(key="document").set_value("x" * (state.MAX_URL_CHARACTERS + 1)).run()
    assert "document" not in at.query_params
    assert len(at.text_area(key="document").value) == state.MAX_URL_CHARACTERS + 1
