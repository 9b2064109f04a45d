from app.sentence_pairs import page

page.draw()
