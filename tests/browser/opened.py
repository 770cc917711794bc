"""A page of the explorer in a browser, and what happened on it."""

from contextlib import contextmanager

READY = "html[data-ready]"


class Opened:
    """A page that is open: ``page`` is playwright's, and the rest says what the map shows."""

    def __init__(self, page):
        self.page = page

    def ask(self, expression, argument=None):
        return self.page.evaluate(expression, argument)

    def settle(self):
        """Wait until what was chosen is shown: nothing is read, nothing moves and everything is drawn."""
        self.page.wait_for_function(
            """() => new Promise(done => {
                const { renderer } = hopscale;
                const quiet = () => !hopscale.underWay && !renderer.flight && !renderer.morph && !renderer.waiting
                    && performance.now() - (renderer.movedAt ?? -1000) > 200;
                const look = () => quiet() ? requestAnimationFrame(() => done(true)) : setTimeout(look, 20);
                look();
            })"""
        )

    def colors(self):
        """How many pixels of the map have each colour, as hex texts."""
        return self.ask(
            """() => {
                const { width, height } = document.getElementById("points");
                const { data } = document.getElementById("points").getContext("2d").getImageData(0, 0, width, height);
                const counts = {};
                for (let i = 0; i < data.length; i += 4) {
                    const text = "#" + [data[i], data[i + 1], data[i + 2]]
                        .map((part) => part.toString(16).padStart(2, "0")).join("");
                    counts[text] = (counts[text] ?? 0) + 1;
                }
                return counts;
            }"""
        )

    def place(self, kind, index):
        """Pixel at which a node or feature is."""
        return self.ask("([kind, index]) => hopscale.renderer.place(kind, index)", [kind, index])

    def title(self):
        return self.page.locator("#panel h2").text_content()

    def listed(self, heading):
        """Names and numbers of a list in the panel."""
        section = self.page.locator("#panel section").filter(has=self.page.get_by_role("heading", name=heading))
        section.locator(".row").first.wait_for()
        return [
            (row.locator(".name").text_content(), row.locator(".number").text_content())
            for row in section.locator(".row").all()
        ]

    def hash(self):
        self.settle()
        self.page.wait_for_function("() => !hopscale.keeping")  # the address follows after a moment
        return self.ask("() => location.hash")


@contextmanager
def opened(browser, path, fragment="", **settings):
    """Open a page from disk; at the end nothing may have gone wrong, and nothing but the file been requested."""
    with browser.new_context(viewport={"width": 1280, "height": 800}, **settings) as context:
        page, wrong, requests = context.new_page(), [], []
        page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("dialog", lambda dialog: (wrong.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on("request", lambda request: requests.append(request.url.partition("#")[0]))
        page.goto(path.as_uri() + fragment)
        page.wait_for_selector(READY, state="attached")
        shown = Opened(page)
        shown.settle()
        yield shown
        assert wrong == []
        assert set(requests) <= {path.as_uri()}
        assert not page.evaluate("() => window.attacked")
