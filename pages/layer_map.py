from app.layer_map import page

page.draw()
