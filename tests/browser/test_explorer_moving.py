"""The explorer's page by pointer, keys and address; names that attack it stay text."""

import pytest
from attacked import ATTACK, ATTACKED_ROW
from opened import opened


class TestMoving:
    def test_wheel_and_drag(self, shown):
        before = shown.place("node", 0)
        zoom = shown.ask("() => hopscale.camera.zoom")
        shown.page.mouse.move(700, 400)
        shown.page.mouse.wheel(0, -300)
        shown.settle()
        assert shown.ask("() => hopscale.camera.zoom") > 1.2 * zoom
        shown.page.keyboard.press("0")
        shown.settle()
        assert shown.place("node", 0) == pytest.approx(before, abs=0.5)
        empty = shown.ask("() => { for (let x = 330; x < 1200; x += 7) if (!hopscale.at(x, 60)) return [x, 60]; }")
        shown.page.mouse.move(*empty)
        shown.page.mouse.down()
        shown.page.mouse.move(empty[0] + 50, empty[1] + 20, steps=4)
        shown.page.mouse.up()
        shown.settle()
        assert shown.place("node", 0) == pytest.approx([before[0] + 50, before[1] + 20], abs=1)

    def test_the_point_below_the_pointer_stays_when_zooming(self, shown):
        x, y = shown.place("node", 17)
        shown.ask("([x, y]) => hopscale.zoom(x, y, 3)", [x, y])
        assert shown.place("node", 17) == pytest.approx([x, y], abs=0.01)
        shown.settle()

    def test_keys(self, shown):
        shown.page.focus("#map")
        before = shown.place("node", 0)
        shown.page.keyboard.press("ArrowLeft")
        shown.settle()
        assert shown.place("node", 0) == pytest.approx([before[0] + 60, before[1]], abs=0.5)
        shown.page.keyboard.press("+")
        shown.settle()
        assert shown.ask("() => hopscale.camera.zoom") == pytest.approx(1.5, rel=0.01)
        shown.page.keyboard.press("]")
        shown.settle()
        assert shown.ask("() => hopscale.state.map") == 1
        shown.ask("() => hopscale.flyTo('node', 60)")
        shown.settle()
        shown.page.focus("#map")
        shown.page.keyboard.press("Enter")
        shown.page.locator("#panel h2").get_by_text("node 60", exact=True).wait_for()
        shown.page.wait_for_function("document.activeElement.id === 'panel'")
        shown.page.keyboard.press("Tab")  # to what the panel has, and not through all of the legend
        assert shown.ask("() => document.activeElement.closest('#panel') !== null")
        shown.page.keyboard.press("Escape")
        assert shown.page.locator("#panel").is_hidden()
        assert shown.ask("() => document.activeElement.id") == "map"
        shown.page.keyboard.press("?")
        assert shown.page.locator("#help-dialog").is_visible()
        shown.page.click("#help-close")

    def test_two_fingers(self, browser, file):
        with opened(browser, file, has_touch=True) as shown:
            session = shown.page.context.new_cdp_session(shown.page)

            def touch(kind, *points):
                fingers = [{"x": x, "y": y, "id": at} for at, (x, y) in enumerate(points)]
                session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": fingers})

            touch("touchStart", (600, 300))
            touch("touchStart", (600, 300), (700, 300))
            for spread in range(10, 110, 10):
                touch("touchMove", (600 - spread, 300), (700 + spread, 300))
            touch("touchEnd")
            shown.settle()
            assert shown.ask("() => hopscale.camera.zoom") == pytest.approx(3, rel=0.1)
            assert shown.page.locator("#panel").is_hidden()


class TestAddress:
    def test_the_address_brings_back_what_was_shown(self, browser, shown, file):
        shown.page.locator("#maps label").nth(3).click()
        shown.page.select_option("#color", "cluster")
        shown.ask("() => hopscale.select('node', 5)")
        shown.ask("() => hopscale.zoom(600, 400, 4)")
        shown.settle()
        fragment = shown.hash()
        place = shown.place("node", 5)
        with opened(browser, file, fragment) as again:
            assert again.ask("() => [hopscale.state.map, hopscale.state.color]") == [3, "cluster"]
            again.page.locator("#panel h2").wait_for()
            assert again.title() == shown.title()
            assert again.place("node", 5) == pytest.approx(place, abs=3)

    @pytest.mark.parametrize(
        "fragment", ["#scale=9&color=x&node=nobody&view=1_2", f"#node={ATTACK}&feature={ATTACK}", "#&&==%&hide=-1.x.7"]
    )
    def test_a_wrong_address_is_no_error(self, browser, file, fragment):
        with opened(browser, file, fragment) as shown:
            assert shown.ask("() => hopscale.state.map") == 0


class TestNames:
    def test_no_name_is_read_as_html(self, shown):
        page = shown.page
        for kind, row in (("node", ATTACKED_ROW), ("feature", 0)):
            shown.ask("([kind, row]) => hopscale.select(kind, row)", [kind, row])
            page.locator("#panel .row").first.wait_for()
            assert ATTACK in shown.title()
            shown.ask("([x, y]) => hopscale.hover([x, y])", shown.place(kind, row))
        page.fill("#search-input", "onerror")
        page.locator("#search-hits .hit").first.wait_for()
        assert page.locator("#search-hits .hit").count() == 2
        shown.ask("() => hopscale.chooseColor('has')")
        page.wait_for_timeout(200)
        assert page.locator("img").count() == 0
        assert page.locator("h1").text_content() == f"Blocks {ATTACK}"
        assert ATTACK in page.title()

    def test_the_policy_refuses_other_scripts_and_requests(self, browser, file):
        with browser.new_context() as context:
            page = context.new_page()
            page.goto(file.as_uri())
            page.wait_for_selector("html[data-ready]", state="attached")
            outcome = page.evaluate(
                """async () => {
                    const image = document.createElement("img");
                    image.setAttribute("onerror", "window.attacked = 1");
                    document.body.append(image);
                    image.src = "x";
                    const script = document.createElement("script");
                    script.textContent = "window.attacked = 2";
                    document.body.append(script);
                    const asked = await fetch("http://127.0.0.1:9/").then(() => "sent", (error) => String(error));
                    return [window.attacked ?? 0, asked];
                }"""
            )
            assert outcome[0] == 0
            assert "TypeError" in outcome[1]
            assert not page.evaluate("() => window.attacked")
