from app.inside_layer import page

page.draw()
