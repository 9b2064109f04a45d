from app.screens.training_example import page

page.draw()
