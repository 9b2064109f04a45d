from app.probes import page

page.draw()
