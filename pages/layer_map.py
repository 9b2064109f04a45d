from app.screens.layer_map import page

page.draw()
