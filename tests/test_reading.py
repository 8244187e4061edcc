"""Files as people have them. What is right is written beside each file, or is the file that wrote it (clean.csv)."""

import bz2
import csv
import gzip
import io
import lzma
import sys
import zipfile

import numpy as np
import pandas as pd
import pytest
from helpers import CASES
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from pandas.testing import assert_frame_equal

from stepsel.reading import ReadingError, numeric_frame, read_table


@pytest.fixture
def read(tmp_path):
    """Write a file and read it."""

    def write_and_read(content, name="data.csv", **options):
        file = tmp_path / name
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_table(file, **options)

    return write_and_read


@pytest.fixture
def refusal(read):
    """The sentence with which a file is refused."""

    def every_column_numeric(content, name, **options):
        table = read(content, name, **options)
        return numeric_frame(table, table.frame.columns)

    def read_and_refuse(content, name="data.csv", **options):
        with pytest.raises(ReadingError) as caught:
            every_column_numeric(content, name, **options)
        sentence = str(caught.value)
        assert sentence.endswith(".")
        assert "\n" not in sentence
        return sentence

    return read_and_refuse


def columns(table):
    return {name: table.frame[name].tolist() for name in table.frame.columns}


def said(table, *words):
    """Whether one of the notes holds all the words."""
    return any(all(word in note for word in words) for note in table.notes)


# The reported files -------------------------------------------------------------------------------------------------

NOTES = {
    "f01_bom_quoted": [],
    "f02_semicolon_comma": [["';'"], ["Decimal commas", "area", "dist", "noise", "y"]],
    "f04_thousands_us": [["thousands", "area", "y"], ["currency", "$", "y"]],
    "f05_cp1252": [["cp1252", "--encoding"]],
    "f07_missing_codes": [["area 2", "rooms 2", "age 2", "dist 1 (blank)", "noise 1 (n/a)"]],
    "f08_unnamed_index": [["first column", "0 to 39"]],
    "f12_sep_line_tab": [["utf-16"], ["Line 1", "tab"]],
    "f14_units_row": [["1 comment line"], ["Line 3", "m2", "kEUR"]],
}


@pytest.mark.parametrize("case", NOTES)
def test_a_reported_file_is_read_as_its_clean_form(case):
    clean = pd.read_csv(CASES / case / "clean.csv")
    table = read_table(CASES / case / "data.csv", target=clean.columns[-1])
    assert_frame_equal(table.frame, clean, check_dtype=False, check_exact=True)
    for words in NOTES[case]:
        assert said(table, *words), table.notes
    assert len(table.notes) == len(NOTES[case])


def test_duplicate_and_padded_headers():
    table = read_table(CASES / "f13_dup_headers_spaces" / "data.csv", target="y")
    clean = pd.read_csv(CASES / "f13_dup_headers_spaces" / "clean.csv")
    assert list(table.frame.columns) == ["area", "rooms", "age", "dist", "age.2", "y"]
    assert np.array_equal(table.frame.to_numpy(), clean.to_numpy())
    assert said(table, "'rooms'", "'y'")
    assert said(table, "twice", "'age'", "'age.2'")


def test_remarks_among_numbers_stay_text_and_are_named():
    table = read_table(CASES / "f10_mixed_note" / "data.csv")
    assert table.frame["area"][7] == "about 90"
    with pytest.raises(ReadingError, match=r"'area' is not numeric: line 9 holds 'about 90'.*--drop area"):
        numeric_frame(table, ["rooms", "area"])
    with pytest.raises(ReadingError, match=r"'dist' is not numeric: line 22 holds '<0.5'"):
        numeric_frame(table, ["dist"])
    assert list(numeric_frame(table, ["rooms", "age"]).columns) == ["rooms", "age"]


# Encodings ----------------------------------------------------------------------------------------------------------

LATIN = "größe,naïve,prix_€\n1.5,2,3\n2.5,4,7\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_encodings_and_line_ends(read, encoding, line_end):
    table = read(LATIN.replace("\n", line_end).encode(encoding))
    assert columns(table) == {"größe": [1.5, 2.5], "naïve": [2, 4], "prix_€": [3, 7]}


def test_utf16_be_with_mark(read):
    assert columns(read(b"\xfe\xff" + "a;b\n1,5;2\n".encode("utf-16-be"))) == {"a": [1.5], "b": [2]}


def test_chinese_headers_and_levels(read):
    content = "面积,房价,城市,年龄\n1,2,北京,4\n5,6,上海,8\n"
    for encoding in ("gbk", "gb18030", "utf-8", "utf-16"):
        table = read(content.encode(encoding))
        assert columns(table) == {"面积": [1, 5], "房价": [2, 6], "城市": ["北京", "上海"], "年龄": [4, 8]}
    assert said(read(content.encode("gbk")), "gb18030", "--encoding")


@pytest.mark.parametrize(
    "header",
    ["Größe,Straße,Übung", "prénom,âge,été", "señal,año,índice", "GRÖSSE,FLÄCHE,HÖHE", "Länge_°C,Fläche_m²,µ"],
)
def test_western_headers_are_not_taken_for_chinese(read, header):
    table = read(f"{header}\n1,2,3\n4,5,6\n".encode("cp1252"))
    assert list(table.frame.columns) == header.split(",")


def test_another_script_is_not_guessed(read, refusal):
    content = "возраст,доход,цена\n1,2,3\n4,5,6\n".encode("cp1251")
    assert "--encoding" in refusal(content)
    assert list(read(content, encoding="cp1251").frame.columns) == ["возраст", "доход", "цена"]


@pytest.mark.parametrize(
    ("text", "encoding"), [("年齡,房價,面積", "big5"), ("年齢,価格,面積", "shift_jis"), ("größe,b,c", "mac_roman")]
)
def test_what_is_neither_western_nor_everyday_chinese_is_refused(refusal, text, encoding):
    assert "--encoding" in refusal(f"{text}\n1,2,3\n".encode(encoding))


def test_declared_encoding_overrules_and_is_checked(read, refusal):
    content = "年齡,b\n1,2\n".encode("big5")
    assert columns(read(content, encoding="big5")) == {"年齡": [1], "b": [2]}
    assert "line 2" in refusal(b"a,b\n\xe4\xf6,2\n", encoding="utf-8")
    assert "'latin-99'" in refusal("a,b\n1,2\n", encoding="latin-99")


# Separators and layout ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sep", [",", ";", "\t", "|", "  "])
def test_separators(read, sep):
    table = read("\n".join(sep.join(row) for row in (["a", "b", "c"], ["1.5", "2", "3"], ["2.5", "5", "6"])))
    assert columns(table) == {"a": [1.5, 2.5], "b": [2, 5], "c": [3, 6]}


def test_separator_inside_quotes_does_not_count(read):
    table = read('name;"x;1"\n"a,b;c";1\n"d,e,f";2\n')
    assert columns(table) == {"name": ["a,b;c", "d,e,f"], "x;1": [1, 2]}


def test_sep_line_wins_over_the_guess_and_an_option_over_both(read):
    assert columns(read("sep=;\na,x;b\n1;2\n")) == {"a,x": [1], "b": [2]}
    assert columns(read("sep=;\na,b\n1,2\n", sep=",")) == {"a": [1], "b": [2]}


def test_utf16_tab_with_sep_line_and_decimal_commas(read):
    table = read("sep=\t\r\na\tb\r\n1,5\t2\r\n-2,25\t3\r\n".encode("utf-16"))
    assert columns(table) == {"a": [1.5, -2.25], "b": [2, 3]}


def test_quotes_after_blanks(read):
    assert columns(read('"a", "b"\n"1", "x, y"\n"2", "z"\n')) == {"a": [1, 2], "b": ["x, y", "z"]}


def test_comment_lines_and_a_header_written_as_one(read):
    assert columns(read("# made by hand, 2024\n# twice\na,b\n1,2\n")) == {"a": [1], "b": [2]}
    assert columns(read("#a,b\n1,2\n3,4\n")) == {"a": [1, 3], "b": [2, 4]}


def test_title_lines_are_skipped_on_request(read, refusal):
    content = "Report\n\na,b\n1,2\n3,x\n"
    assert "--skip-rows 2" in refusal(content)
    table = read(content, skip_rows=2)
    assert columns(table) == {"a": [1, 3], "b": ["2", "x"]}
    with pytest.raises(ReadingError, match="line 5 holds 'x'"):
        numeric_frame(table, ["b"])


def test_units_row_beside_text_and_codes(read):
    table = read("who,age,height\n,years,cm\nAda,36,NA\nBob,?,180\n")
    assert table.frame["age"].tolist()[0] == 36
    assert table.frame["height"].tolist()[1] == 180
    assert table.frame["who"].tolist() == ["Ada", "Bob"]
    assert said(table, "Line 2", "years, cm")


def test_a_first_row_of_text_in_text_columns_is_data(read):
    assert columns(read("g,h\nred,big\nblue,small\n")) == {"g": ["red", "blue"], "h": ["big", "small"]}
    assert columns(read("g,x\nred,NA\nblue,2\n"))["g"] == ["red", "blue"]


def test_no_header(read, refusal):
    assert "--no-header" in refusal("1.5,2.5\n3,4\n")
    assert columns(read("1.5,2.5\n3,4\n", header=False)) == {"column_1": [1.5, 3.0], "column_2": [2.5, 4.0]}
    assert list(read("2019,2020\n3,4\n").frame.columns) == ["2019", "2020"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", ["is empty"]),
        ("  \n\n", ["is empty"]),
        ("a,b\n", ["header and no data"]),
        ("a,b\n1,2\n3,4,5\n", ["line 3", "3 fields", "has 2"]),
        ("a,b\n1,2\n3\n5,6\n", ["line 3", "1 field ", "has 2"]),
        ("a,b\n1,2\n3\n,\n", ["line 3", "1 field ", "has 2"]),
        ('a,b\n"x\ny",2\n\n3,4,5\n', ["line 5", "3 fields"]),
        ('a,b\n"1,2\n3,4\n', ["line 2", "quote"]),
        ('a,b\n1,2\n3,"4\n', ["line 3", "quote"]),
        ("a,b\n1,5,2\n3,5,4\n", ["line 2", "3 fields"]),  # decimal commas between commas, not row names
        ("a,b\n1,2\n# end\n", ["line 3", "1 field "]),
        ("a\n1\n2\n", ["single column"]),
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" * 9, ["binary"]),
        (b"\x01\x00\x02\x00\x03\x00" * 50, ["binary"]),
    ],
)
def test_what_is_no_table(refusal, content, words):
    sentence = refusal(content)
    for word in words:
        assert word in sentence


def test_ragged_line_far_down(refusal):
    rows = ["1,2"] * 5000
    rows[4321] = "1"
    assert "line 4323," in refusal("a,b\n" + "\n".join(rows))


def test_wrong_separator_is_told_with_the_right_one(refusal):
    assert "';'" in refusal("a;b\n1;2\n", sep=",")


def test_missing_file_and_folder(tmp_path):
    with pytest.raises(ReadingError, match=r"nowhere\.csv was not found\."):
        read_table(tmp_path / "nowhere.csv")
    with pytest.raises(ReadingError, match="is a folder"):
        read_table(tmp_path)


def test_bad_options(refusal):
    assert "decimal" in refusal("a,b\n1,2\n", decimal="x")
    assert "both" in refusal("a,b\n1,2\n", decimal=",", thousands=",")
    assert "separator" in refusal("a,b\n1,2\n", sep="::")


# Columns ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("first", [["0", "1", "2"], ["1", "2", "3"], ["12", "3", "7"], ["Ada", "Bob", "Cy"]])
@pytest.mark.parametrize("header", ["", "Unnamed: 0"])
def test_index_without_a_name_is_left_out(read, first, header):
    table = read(f"{header},x\n" + "".join(f"{label},{value}\n" for label, value in zip(first, (5, 6, 9), strict=True)))
    assert columns(table) == {"x": [5, 6, 9]}
    assert said(table, "first column", "left out")


def test_a_column_without_a_name_that_is_no_index_gets_one(read):
    table = read(",x\n0.5,1\n0.5,2\n")
    assert columns(table) == {"column_1": [0.5, 0.5], "x": [1, 2]}
    assert said(table, "column_1")


def test_a_named_row_number_stays(read):
    assert columns(read("id,x\n0,5\n1,6\n")) == {"id": [0, 1], "x": [5, 6]}


def test_row_names_without_a_header(read):
    assert columns(read('"mpg","cyl"\n"Mazda",21,6\n"Fiat",22,4\n')) == {"mpg": [21, 22], "cyl": [6, 4]}


def test_without_any_names_no_column_is_an_index(read):
    assert columns(read(",,\n1,2,3\n4,5,6\n")) == {"column_1": [1, 4], "column_2": [2, 5], "column_3": [3, 6]}


def test_end_mark_of_dos(read):
    assert columns(read("a,b\n1,2\n\x1a")) == {"a": [1], "b": [2]}


def test_trailing_empty_columns_and_rows(read):
    table = read("a,b,,\n1,2,,\n3,4,,\n,,,\n,,,\n")
    assert columns(table) == {"a": [1, 3], "b": [2, 4]}
    assert said(table, "2 empty columns")
    assert said(table, "2 empty rows")
    assert columns(read("a,b\n1,2,\n3,4,\n")) == {"a": [1, 3], "b": [2, 4]}


def test_lines_are_counted_past_empty_rows(read):
    table = read("a,b\n1,2\n,\n\n3,x\n")
    with pytest.raises(ReadingError, match="line 5 holds 'x'"):
        numeric_frame(table, ["b"])


def test_names_stay_unique(read):
    table = read("age,age,age.2,age\n1,2,3,4\n")
    assert list(table.frame.columns) == ["age", "age.3", "age.2", "age.4"]
    assert len(set(table.frame.columns)) == 4


def test_target_has_to_be_there_once(refusal):
    assert "2 columns called 'y'" in refusal("y,y ,x\n1,2,3\n", target="y")
    sentence = refusal("area,Price\n1,2\n", target="price")
    assert "did you mean 'Price'? Its columns are Price, area." in sentence
    assert "did you mean 'Price'?" in refusal("area,Price\n1,2\n", target="prize")
    assert ": its columns are area, Price." in refusal("area,Price\n1,2\n", target="xyz")


def test_all_columns_of_text_are_named_in_one_sentence(refusal):
    header, first, second = "n,a,b,c,d,e,f,g", "1,x,y,z,u,v,w,", "2,1,y,z,u,v,w,"
    sentence = refusal(f'{header},"p, q",day\n{first},k,2020-01-01\n{second},k,2020-01-02\n')
    assert "8 columns are not numeric: a (line 2 holds 'x'), b (line 2 holds 'y')," in sentence
    assert "e (line 2 holds 'v'), f, p, q, day; " in sentence
    assert "leave them out with --drop a,b,c,d,e,f,day --drop 'p, q', or" in sentence
    assert sentence.endswith("declare factors with --categorical a,b,c,d,e,f,day --categorical 'p, q'.")
    sentence = refusal("a;b;c\n1,234;x;5\n2,500;y;6\n")
    assert "a (line 2 holds '1,234'), b (line 2 holds 'x'); leave them out with --drop b, or" in sentence
    assert "holds '" + "x" * 37 + "...'" in refusal("a,b\n" + "x" * 50 + ",y\n")


def test_empty_column_is_named(refusal):
    assert "'b' is empty; leave the column out with --drop b" in refusal("a,b,c\n1,,2\n3,,4\n")


# Numbers ------------------------------------------------------------------------------------------------------------

WAYS = {
    "plain": (["1.5", "-2", "+3e2", ".5", "5."], [1.5, -2, 300, 0.5, 5]),
    "US thousands": (['"1,234"', '"-12,345.5"', "7"], [1234, -12345.5, 7]),
    "millions": (['"1,234,567"', "5"], [1234567, 5]),
    "lakhs": (['"12,34,567"', '"1,234"'], [1234567, 1234]),
    "dollars": (['"$1,234,000"', "$5", "-$7.5"], [1234000, 5, -7.5]),
    "yen": (["¥100", "¥2000"], [100, 2000]),
    "euro behind": (["1.50 €", "12.25€"], [1.5, 12.25]),
    "apostrophes": (["1'234.5", "12’000"], [1234.5, 12000]),
    "no-break spaces": (["1\u00a0234.5", "2\u202f000"], [1234.5, 2000]),
    "minus sign": (["\u22125", "3.25"], [-5, 3.25]),
    "per cent": (["12%", "3.5 %"], [12, 3.5]),
    "long": (["123456789012345678901234567890", "1"], [123456789012345678901234567890.0, 1]),
}


@pytest.mark.parametrize("way", WAYS)
def test_ways_to_write_numbers(read, way):
    written, meant = WAYS[way]
    table = read("x,k\n" + "".join(f"{text},0.25\n" for text in written))
    assert table.frame["x"].tolist() == meant


GERMAN = {
    "both marks": (["1.234,56", "2,5", "1.000.000"], [1234.56, 2.5, 1000000]),
    "only thousands, beside decimal commas": (["1.234", "12.345", "7"], [1234, 12345, 7]),
    "only decimals": (["1,234", "12,345"], [1.234, 12.345]),
    "spaces": (["1 234,5", "12\u00a0000,25"], [1234.5, 12000.25]),
    "euro": (["1.234,00 €", "5,50 €"], [1234, 5.5]),
}


@pytest.mark.parametrize("way", GERMAN)
@pytest.mark.parametrize("decimal", [None, ","])
def test_ways_to_write_numbers_with_decimal_commas(read, way, decimal):
    written, meant = GERMAN[way]
    table = read("x;k\n" + "".join(f"{text};0,5\n" for text in written), decimal=decimal)
    assert table.frame["x"].tolist() == meant
    assert said(table, "Decimal commas", "k")


def test_points_in_a_semicolon_file(read):
    assert columns(read("x;k\n1.234;0.5\n12.345;1\n")) == {"x": [1.234, 12.345], "k": [0.5, 1.0]}


@pytest.mark.parametrize("sep", [";", "\t"])
def test_one_mark_and_three_digits_alone_is_refused_with_the_option(read, refusal, sep):
    content = f"price{sep}n\n1,234{sep}5\n12,345{sep}6\n"
    assert "'price' can be read" in refusal(content)
    assert "--decimal" in refusal(content)
    assert columns(read(content, decimal=",")) == {"price": [1.234, 12.345], "n": [5, 6]}
    assert columns(read(content, decimal=".")) == {"price": [1234, 12345], "n": [5, 6]}
    assert columns(read(content, thousands=",")) == {"price": [1234, 12345], "n": [5, 6]}


def test_points_and_three_digits_alone_in_a_semicolon_file(read, refusal):
    content = "price;n\n1.234;5\n12.345;6\n"
    assert "'price' can be read" in refusal(content)
    assert columns(read(content, decimal=","))["price"] == [1234, 12345]
    assert columns(read(content, thousands="."))["price"] == [1234, 12345]
    assert columns(read(content, decimal="."))["price"] == [1.234, 12.345]
    assert columns(read(content.replace(";", ",")))["price"] == [1.234, 12.345]


def test_contradicting_columns_leave_the_open_one_open(refusal):
    sentence = refusal('a,b,c\n"1,234","5,5",1.5\n"12,345","1,0",2.25\n')
    assert "'a' can be read" in sentence


@pytest.mark.parametrize(
    ("cells", "line", "value"),
    [
        (["1", "about 90", "3"], 3, "about 90"),
        (["1", "<0.5"], 3, "<0.5"),
        (["1,5", "2.5"], 3, "2.5"),
        (["5%", "3"], 3, "3"),
        (["$5", "€5"], 3, "€5"),
        (["1.2.3", "4"], 2, "1.2.3"),
        (["NA", "x1"], 3, "x1"),
        (["2024-01-05", "2024-02-06"], 2, "2024-01-05"),
        (["1_000", "2"], 2, "1_000"),
        (["0x10", "2"], 2, "0x10"),
    ],
)
def test_text_is_never_made_a_number(read, refusal, cells, line, value):
    content = "x;k\n" + "".join(f"{cell};1\n" for cell in cells)
    assert read(content).frame["x"].tolist() == cells
    sentence = refusal(content)
    assert f"line {line} holds {value!r}" in sentence
    assert "--drop x" in sentence


def test_infinite_values_are_named(refusal):
    assert "'b' is infinite: line 3; leave the column out with --drop b" in refusal("a,b\n1,2\n3,-inf\n")
    assert "'b' is infinite: line 2" in refusal("a,b\n1,1e400\n3,4\n")


def test_numbers_are_exact(read):
    written = ["0.1", "1.7976931348623157e308", "5e-324", "9007199254740993", "0.30000000000000004"]
    table = read("x,k\n" + "".join(f"{text},1\n" for text in written))
    assert table.frame["x"].tolist() == [float(text) for text in written]


def test_leading_zeros_are_told(read):
    table = read("zip,y\n00123,1.5\n04567,2\n")
    assert columns(table)["zip"] == [123, 4567]
    assert said(table, "Leading zeros", "zip", "--categorical", "--drop")


def test_codes_keep_their_zeros(read):
    content = "zip;n;x\n007;1;1,5\nNA;2;2,5\n;3;3\n10;04;4\n"
    table = read(content, codes=["zip", "x", "nothing"])
    assert table.frame["zip"].isna().tolist() == [False, True, True, False]
    assert table.frame["zip"].dropna().tolist() == ["007", "10"]
    assert columns(table)["x"] == [1.5, 2.5, 3, 4]  # no code begins with a zero
    assert said(table, "Leading zeros", "n")
    assert not said(table, "Leading zeros", "zip")
    assert said(table, "Missing values: zip 2 (NA 1, blank 1).")
    assert read("zip,k\n007,1\n99,2\n", codes=["zip"], na=["99"]).frame["zip"].isna().tolist() == [False, True]


def test_declared_codes_are_missing_in_categories(tmp_path):
    frame = pd.DataFrame({"g": pd.Categorical(["b", "none", "a"], ["b", "none", "a"]), "k": [1, 2, 3]})
    frame.to_parquet(tmp_path / "d.parquet")
    table = read_table(tmp_path / "d.parquet", na=["none"])
    assert table.frame["g"].isna().tolist() == [False, True, False]
    assert table.frame["g"].cat.categories.tolist() == ["b", "none", "a"]
    assert said(table, "Missing values: g 1 (none).")


def test_plain_text_is_not_advised_to_be_missing(refusal):
    assert "--na" not in refusal("g,k\nred,1\nblue,2\n")


def test_a_column_that_changes_its_mind_far_down_keeps_its_text(read):
    table = read("x,y,k\n" + "1.50,TRUE,1\n" * 300_000 + "oops,3,2\n")
    assert table.frame["x"][0] == "1.50"
    assert table.frame["y"].tolist()[-2:] == ["TRUE", "3"]


def test_truth_values(read):
    table = read("a,b,k\nTRUE,True,1\n,False,2\nFALSE,True,3\n")
    assert table.frame["a"].tolist()[::2] == [1.0, 0.0]
    assert np.isnan(table.frame["a"][1])
    assert table.frame["b"].tolist() == [True, False, True]
    assert numeric_frame(table, ["a", "b"]) is not None


# Missing values -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "code", ["NA", "?", ".", "-", "n/a", "#N/A", "NULL", "null", "NaN", "nan", "N/A", "None", "", " "]
)
def test_codes_are_missing_among_numbers_only(read, code):
    table = read(f"x,g\n1.5,{code}\n{code},red\n3,{code}\n")
    assert table.frame["x"].isna().tolist() == [False, True, False]
    assert table.frame["g"].tolist() == [code.strip(), "red", code.strip()]
    assert said(table, f"x 1 ({code.strip() or 'blank'})")


def test_codes_among_decimal_commas(read):
    table = read("x;k\n1,5;1\n.;2\n-;3\n-2,5;4\n")
    assert table.frame["x"].isna().tolist() == [False, True, True, False]
    assert said(table, "x 2 (. 1, - 1)")


def test_declared_codes_are_missing_everywhere(read):
    table = read("x,g,w\n1,NA,-99\n-99,None,2.5\n3,red,-99.0\n", na=["NA", "-99"])
    assert table.frame["x"].isna().tolist() == [False, True, False]
    assert table.frame["w"].isna().tolist() == [True, False, True]
    assert table.frame["g"].isna().tolist() == [True, False, False]
    assert table.frame["g"][1] == "None"
    assert said(table, "x 1 (-99)", "g 1 (NA)", "w 2 (-99)")


def test_a_declared_word_opens_a_column_of_numbers(read, refusal):
    content = "x,k\n1,1\nunknown,2\n3,3\n"
    assert "--na unknown" in refusal(content)
    table = read(content, na=["unknown"])
    assert table.frame["x"].isna().tolist() == [False, True, False]


def test_only_codes_are_no_numbers(refusal):
    assert "--na NA" in refusal("x,k\nNA,1\nNA,2\n")


def test_declared_blank(read):
    assert read("g,k\nred,1\n,2\n", na=[""]).frame["g"].isna().tolist() == [False, True]


# Other kinds of files -----------------------------------------------------------------------------------------------

PLAIN = b"a,b\n1,2.5\n3,4.5\n"


def zipped(content, *names):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in names:
            archive.writestr(name, content)
    return buffer.getvalue()


@pytest.mark.parametrize(
    "content",
    [gzip.compress(PLAIN), bz2.compress(PLAIN), lzma.compress(PLAIN), zipped(PLAIN, "x.csv")],
    ids=["gzip", "bz2", "xz", "zip"],
)
@pytest.mark.parametrize("name", ["data.csv.gz", "misnamed.csv"])
def test_compressed(read, content, name):
    assert columns(read(content, name)) == {"a": [1, 3], "b": [2.5, 4.5]}


def test_archives_that_cannot_be_read(refusal):
    assert "one.csv, two.csv" in refusal(zipped(PLAIN, "one.csv", "two.csv"), "x.zip")
    assert "damaged" in refusal(gzip.compress(PLAIN)[:-9], "x.csv.gz")


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(PLAIN)))
    assert columns(read_table("-")) == {"a": [1, 3], "b": [2.5, 4.5]}


FRAME = pd.DataFrame({"größe": [1.5, np.nan, 3.0], "n": [1, 2, 3], "g": ["NA", "x", None], "b": [True, False, True]})


@pytest.mark.parametrize("kind", ["parquet", "feather"])
def test_parquet_and_feather(tmp_path, kind):
    file = tmp_path / f"data.{kind}"
    getattr(FRAME, f"to_{kind}")(file)
    table = read_table(file)
    assert_frame_equal(table.frame[["größe", "n", "b"]], FRAME[["größe", "n", "b"]])
    assert table.frame["g"].tolist()[:2] == ["NA", "x"]
    assert said(table, "größe 1 (blank)")
    with pytest.raises(ReadingError, match="'g' is not numeric: row 2 holds 'x'"):
        numeric_frame(table, ["g"])


def test_dates_of_a_parquet_file_are_named(tmp_path):
    pd.DataFrame({"d": pd.to_datetime(["2024-01-05"]), "x": [1]}).to_parquet(tmp_path / "d.parquet")
    table = read_table(tmp_path / "d.parquet")
    with pytest.raises(ReadingError, match="'d' holds datetime64"):
        numeric_frame(table, ["d"])


def test_stata(tmp_path):
    FRAME[["n", "b"]].assign(size=[1.5, np.nan, 3]).to_stata(tmp_path / "data.dta", write_index=False)
    table = read_table(tmp_path / "data.dta")
    assert table.frame["n"].tolist() == [1, 2, 3]
    assert table.frame["size"].isna().tolist() == [False, True, False]


def excel(path, **sheets):
    with pd.ExcelWriter(path) as writer:
        for name, rows in sheets.items():
            pd.DataFrame(rows).to_excel(writer, sheet_name=name, header=False, index=False)
    return path


def test_excel(tmp_path):
    rows = [["area ", "n", "g", "age"], ["m2", None, None, "years"], [1.5, 1, "x", "NA"], [2.5, 2, 7, 30]]
    file = excel(tmp_path / "data.xlsx", Data=rows, Other=[["a", "b"], [1, 2]])
    table = read_table(file, target="area")
    assert table.frame["area"].tolist() == [1.5, 2.5]
    assert table.frame["n"].tolist() == [1, 2]
    assert table.frame["g"].tolist() == ["x", "7"]
    assert table.frame["age"].isna().tolist() == [True, False]
    assert said(table, "Sheet 'Data' of 2")
    assert said(table, "Row 2", "units")
    with pytest.raises(ReadingError, match="'g' is not numeric: row 3 holds 'x'"):
        numeric_frame(table, ["g"])
    assert columns(read_table(file, sheet="Other")) == {"a": [1], "b": [2]}
    assert columns(read_table(file, sheet=2)) == {"a": [1], "b": [2]}
    with pytest.raises(ReadingError, match="no sheet 'Third': its sheets are Data, Other"):
        read_table(file, sheet="Third")


def test_excel_under_another_name(tmp_path):
    file = excel(tmp_path / "data.xlsx", One=[["a", "b"], [1, 2.5]]).rename(tmp_path / "data.csv")
    assert columns(read_table(file)) == {"a": [1], "b": [2.5]}


@pytest.mark.parametrize(
    ("kind", "module", "package"), [("parquet", "pyarrow", "pyarrow"), ("excel", "openpyxl", "openpyxl")]
)
def test_missing_reader_is_named(tmp_path, monkeypatch, kind, module, package):
    file = tmp_path / "data"
    getattr(pd.DataFrame({"a": [1], "b": [2]}), f"to_{kind}")(file.with_suffix(".xlsx"))
    reader = {"parquet": "read_parquet", "excel": "ExcelFile"}[kind]

    def absent(*args, **kwargs):
        raise ImportError(f"No module named {module!r}")

    monkeypatch.setattr(pd, reader, absent)
    with pytest.raises(ReadingError, match=rf"needs the package {package}: pip install {package}"):
        read_table(file.with_suffix(".xlsx"))


def test_damaged_parquet(refusal):
    assert "cannot be read as Parquet" in refusal(b"PAR1garbagePAR1", "x.parquet")


# Any table in any dress ---------------------------------------------------------------------------------------------


def written(number, decimal, thousands, digits):
    """A number as a spreadsheet of some country writes it."""
    if number is None:
        return None
    text = f"{number:,.{digits}f}" if thousands else f"{number:.{digits}f}"
    return text.translate(str.maketrans({",": thousands, ".": decimal}))


@settings(max_examples=100, deadline=None, derandomize=True)
@given(
    rows=st.lists(
        st.tuples(*[st.none() | st.integers(-(10**7), 10**7).map(lambda number: number / 100)] * 3),
        min_size=2,
        max_size=30,
    ),
    sep=st.sampled_from([",", ";", "\t", "|"]),
    decimal=st.sampled_from([".", ","]),
    thousands=st.sampled_from(["", " ", "'", "\u00a0", ".", ","]),
    code=st.sampled_from(["", "NA", ".", "-", "?", "#N/A"]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "cp1252"]),
    line_end=st.sampled_from(["\n", "\r\n", "\r"]),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    index=st.booleans(),
)
def test_any_table_in_any_dress(
    tmp_path_factory, rows, sep, decimal, thousands, code, encoding, line_end, quoting, index
):
    assume(thousands != decimal)
    proof = [1.5] * len(rows)  # a column that shows the decimal mark, as nearly every file has
    frame = pd.DataFrame(rows, columns=["größe", "b", "c"], dtype=float).assign(proof=proof)
    header = [*([""] if index else []), *frame.columns, "stadt"]
    cells = [
        [
            *([number] if index else []),
            *(written(value, decimal, thousands, 2) or code for value in row),
            f"1{decimal}5",
            "NA",
        ]
        for number, row in enumerate(rows)
    ]
    stream = io.StringIO(newline="")
    csv.writer(stream, delimiter=sep, lineterminator=line_end, quoting=quoting).writerows([header, *cells])
    file = tmp_path_factory.mktemp("dress") / "data.txt"
    file.write_bytes(stream.getvalue().encode(encoding))
    table = read_table(file)
    assert table.frame["stadt"].tolist() == ["NA"] * len(rows)
    for name in frame:
        if frame[name].notna().any():
            assert_allclose(numeric_frame(table, [name])[name].astype(float), frame[name], rtol=0)
