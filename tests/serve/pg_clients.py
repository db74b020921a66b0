"""psycopg 3, SQLAlchemy and pandas against a server whose place the environment says (PGHOST, ...).

Exits with 0 if all holds. The table is `visits` (person, age), with a budget of which 10 are left.
"""
import os

import pandas
import psycopg
import sqlalchemy

PRICE = "-c brume.epsilon=0.25"
notices = []


def connect(options=PRICE):
    connection = psycopg.connect(options=options)
    connection.add_notice_handler(lambda one: notices.append(one.message_primary))
    return connection


def psycopg_asks():
    with connect() as one:
        cursor = one.execute("SELECT age > %s AS old, COUNT(*) AS n, AVG(age) AS a FROM visits GROUP BY 1", (40,))
        assert [column.type_code for column in cursor.description] == [16, 20, 701], cursor.description
        rows = cursor.fetchall()
        assert [type(value) for value in rows[0]] == [bool, int, float], rows
        assert notices[-1].startswith("charged epsilon 0.25; left: epsilon 9.75"), notices
        binary = one.cursor(binary=True)
        binary.execute("SELECT age > %s AS old, COUNT(*) AS n, AVG(age) AS a FROM visits GROUP BY 1", (40,))
        assert binary.fetchall() == rows and notices[-1].startswith("read again, free of charge"), notices
        for _ in range(7):  # prepared on the server after some
            again = one.execute("SELECT age > %s AS old, COUNT(*) AS n, AVG(age) AS a FROM visits GROUP BY 1", (40,),
                                prepare=True).fetchall()
            assert again == rows
        with one.cursor("named") as cursor:
            cursor.execute("SELECT age > 40 AS old, COUNT(*) AS n, AVG(age) AS a FROM visits GROUP BY 1")
            assert [cursor.fetchone(), *cursor.fetchmany(5)] == rows
        assert one.execute("SHOW brume.session_spent").fetchone() == ("0.25",)


def errors_have_a_state_and_a_hint():
    with connect("") as one:
        for sql, state in (("SELECT COUNT(*) FROM visits", "22023"), ("SELECT * FROM visits", "0A000"),
                           ("SELECT x FROM visits", "42704"), ("SELECT COUNT(*) FROM nobody", "42704")):
            try:
                one.execute(sql)
                raise AssertionError(sql)
            except psycopg.Error as error:
                assert error.sqlstate == state, (sql, error.sqlstate, error)
            one.rollback()


def engine():
    return sqlalchemy.create_engine("postgresql+psycopg://", connect_args={"options": PRICE})


def sqlalchemy_inspects_and_asks():
    inspector = sqlalchemy.inspect(engine())
    assert inspector.get_schema_names() == ["information_schema", "public"], inspector.get_schema_names()
    assert inspector.get_table_names() == ["visits"] and inspector.get_view_names() == []
    assert [column["name"] for column in inspector.get_columns("visits")] == ["person", "age"]
    assert inspector.get_pk_constraint("visits")["constrained_columns"] == []
    assert inspector.get_foreign_keys("visits") == [] and inspector.get_indexes("visits") == []
    assert inspector.get_table_comment("visits")["text"] == "private: the unit is person"
    metadata = sqlalchemy.MetaData()
    metadata.reflect(engine())
    visits = metadata.tables["visits"]
    with engine().connect() as one:
        asked = sqlalchemy.select(sqlalchemy.func.count().label("n")).where(visits.c.age.between(20, 60))
        first, again = one.execute(asked).scalar(), one.execute(asked).scalar()
        assert first == again and isinstance(first, int)
        asked = sqlalchemy.select(sqlalchemy.func.count()).where(visits.c.person == "O'Brien")
        assert isinstance(one.execute(asked).scalar(), int)


def pandas_reads():
    sql = "SELECT age > 40 AS old, COUNT(*) AS n, AVG(age) AS a FROM visits GROUP BY 1"
    frame = pandas.read_sql(sql, engine())
    assert list(frame.columns) == ["old", "n", "a"] and len(frame) == 3, frame
    assert frame.n.dtype == "int64" and frame.a.dtype == "float64", frame.dtypes
    text = sqlalchemy.text("SELECT COUNT(*) AS n FROM public.visits WHERE age BETWEEN :low AND :high")
    assert len(pandas.read_sql(text, engine(), params={"low": 10, "high": 30})) == 1
    frame = pandas.read_sql(sql, sqlalchemy.create_engine(
        "postgresql+psycopg://", connect_args={"options": PRICE + " -c brume.error_columns=on"}))
    assert list(frame.columns) == ["old", "n", "n_error_95", "a", "a_error_95"], frame


if __name__ == "__main__":
    assert os.environ["PGHOST"]
    psycopg_asks()
    errors_have_a_state_and_a_hint()
    sqlalchemy_inspects_and_asks()
    pandas_reads()
