from app.screens.inside_layer import page

page.draw()
