"""A real notebook kernel: tables, the magic, progress, the stop button. Skipped where there is no ipykernel."""

import time

import pytest

import brume
from conftest import BUDGET, write_table

pytest.importorskip("ipykernel")
client = pytest.importorskip("jupyter_client")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


class Notebook:
    """Cells run one after the other, as in a notebook."""

    def __init__(self, folder):
        self.manager = client.KernelManager(kernel_name="python3")
        self.manager.start_kernel(cwd=str(folder))
        self.client = self.manager.blocking_client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=120)

    def run(self, code, stop_after=None):
        """The messages of a cell, as (type, content); the stop button is pressed after so many seconds."""
        number, made = self.client.execute(code), []
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            if stop_after is not None and made:
                time.sleep(stop_after)
                self.manager.interrupt_kernel()
                stop_after = None
            message = self.client.get_iopub_msg(timeout=120)
            if message["parent_header"].get("msg_id") != number:
                continue
            made.append((message["msg_type"], message["content"]))
            if made[-1] == ("status", {"execution_state": "idle"}):
                return made
        raise AssertionError("the cell does not end")

    def close(self):
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)


def shown(messages, kind):
    return [content["data"] for name, content in messages if name == "execute_result" and kind in content["data"]]


def errors(messages):
    return [content["ename"] for name, content in messages if name == "error"]


@pytest.fixture(scope="module")
def notebook(tmp_path_factory):
    folder = tmp_path_factory.mktemp("notebook")
    write_table(folder / "survey.csv")
    write_table(folder / "large.csv", 3_000_000)
    with brume.connect(str(folder / "brume.db"), progress=False) as con:
        for name in ("survey", "large"):
            con.register(name, str(folder / f"{name}.csv"), unit="person", budget=BUDGET,
                         domain={"town": "Aix,Bex,Cully"})
    made = Notebook(folder)
    assert not errors(made.run("import brume\ncon = brume.connect('brume.db')"))
    yield made
    made.close()


def test_a_result_is_a_table_with_bars(notebook):
    made = notebook.run("con.query('SELECT town, COUNT(*) AS n FROM survey GROUP BY town', epsilon=2)")
    page = shown(made, "text/html")[0]["text/html"]
    assert "<table>" in page and "Cully" in page and "linear-gradient" in page and "cost epsilon 2" in page


def test_the_magic(notebook):
    notebook.run("%load_ext brume.magic")
    made = notebook.run("%%brume --epsilon 0.5 --to people\nSELECT COUNT(*) AS n FROM survey")
    assert "±" in shown(made, "text/html")[0]["text/html"]
    assert shown(notebook.run("people.columns"), "text/plain")[0]["text/plain"] == "['n']"
    assert errors(notebook.run("%%brume --epsilon 100\nSELECT COUNT(*) AS n FROM survey")) == ["BudgetError"]


def test_the_stop_button_cancels_and_the_notebook_goes_on(notebook):
    made = notebook.run("con.query('SELECT town, COUNT(*) AS n FROM large GROUP BY town', epsilon=1)", stop_after=0.1)
    assert errors(made) == ["KeyboardInterrupt"]
    assert not errors(notebook.run("con.query('SELECT COUNT(*) AS n FROM survey', epsilon=1)"))


def test_progress_is_a_line_that_goes_away(notebook):
    made = notebook.run("con.audit('laplace(scale=1)', samples=60_000_000)['verdict']")
    told = "".join(content["text"] for name, content in made if name == "stream" and content["name"] == "stderr")
    assert "\r" in told and "%" in told and told.rstrip(" ").endswith("\r")
