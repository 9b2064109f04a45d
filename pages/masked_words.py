from app.masked_words import page

page.draw()
