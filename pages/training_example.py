from app.training_example import page

page.draw()
