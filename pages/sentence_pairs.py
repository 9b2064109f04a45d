from app.screens.sentence_pairs import page

page.draw()
