from app.screens.masked_words import page

page.draw()
