"""corpus.py - TOML documents for each rule of the specification (1.0.0).

VALID and INVALID are lists of documents as bytes, by the headings of the
specification. They are the ground on which generated documents are made:
oracle.py changes and joins them.
"""


def lines(text):
    """One document for each line that is not empty; ~~~ stands for three
    single quotes."""
    text = text.strip("\n").replace("~~~", "'" * 3)
    return [line.encode() for line in text.split("\n") if line]


VALID = lines(r'''
# a comment alone
a = 1 # behind a value
a = "# not a comment"
a-b_c1 = 1
1234 = "digits are a key"
"quoted key" = 1
'literal key' = 1
"" = "an empty key"
'' = "an empty key"
"ʎǝʞ" = "ʇxǝʇ"
"\u00e9\t" = 1
a.b.c = 1
a . b . "c.d" = 1
3.14159 = "two keys"
"a"."b" = 1
a.'b'."c" = 1
true = 1
inf = 2
nan = 3
-1 = 4
1979-05-27 = 5
a = ""
a = "I'm a string. \"You can quote me\". Name\tJos\u00E9\nLocation\tSF."
a = "\b\t\n\f\r\"\\"
a = "\u0000\u007f\uD7FF\uE000\uffff\U0010FFFF\U00010000\U000000e9"
a = 'C:\Users\nodejs'
a = '<\i\c*\s*>'
a = ''
a = """"""
a = """a"""
a = """a "quoted" b"""
a = """""two quotes before"""
a = """two quotes behind"""""
a = """one quote behind""""
a = """a\"""b"""
a = """\\"""
a = """""\""""""
a = ~~~~~~
a = ~~~'two quotes~~~'
a = ~~~''two''quotes~~~''
a = ~~~a \ b~~~
a = 0
a = +0
a = -0
a = +99
a = -17
a = 1_000
a = 5_349_221
a = 1_2_3_4_5
a = 0xDEADBEEF
a = 0xdeadbeef
a = 0xdead_beef
a = 0x0
a = 0x00ff
a = 0o01234567
a = 0o755
a = 0b11010110
a = 0b0_1
a = 9223372036854775807
a = -9223372036854775808
a = 0x7fffffffffffffff
a = 0o777777777777777777777
a = 0b111111111111111111111111111111111111111111111111111111111111111
a = +1.0
a = 3.1415
a = -0.01
a = 5e+22
a = 1e06
a = -2E-2
a = 6.626e-34
a = 224_617.445_991_228
a = 0.0
a = -0.0
a = +0.0
a = 0e0
a = 1e0_1
a = inf
a = +inf
a = -inf
a = nan
a = +nan
a = -nan
a = 1e400
a = 1e-400
a = 4.9e-324
a = 2.4703282292062327e-324
a = 2.4703282292062328e-324
a = 2.2250738585072014e-308
a = 2.2250738585072011e-308
a = 1.7976931348623157e308
a = 1.7976931348623158e308
a = 1.7976931348623159e308
a = 9007199254740993.0
a = 9007199254740992.5
a = 0.1
a = 123456789012345678901234567890.0
a = 0.000000000000000000000000000000000000000000001
a = true
a = false
a = 1979-05-27T07:32:00Z
a = 1979-05-27t07:32:00z
a = 1979-05-27 07:32:00z
a = 1979-05-27T00:32:00-07:00
a = 1979-05-27T00:32:00.999999-07:00
a = 1979-05-27T00:32:00+23:59
a = 1979-05-27T07:32:00
a = 1979-05-27 07:32:00.5
a = 1979-05-27T00:32:00.999999
a = 1979-05-27
a = 2000-02-29
a = 2024-02-29
a = 0001-01-01
a = 9999-12-31
a = 1979-05-27 # not a time
a = 07:32:00
a = 00:32:00.999999
a = 00:32:00.123456
a = 23:59:59.1
a = []
a = [ ]
a = [1,2,3]
a = [ 1, 2, 3, ]
a = [ [ 1, 2 ], ["a", "b", "c"], [] ]
a = [ "all", 'strings', """are the same""", ~~~type~~~ ]
a = [ 0.1, 1, "a", 1979-05-27, { b = 1 }, [true] ]
a = [1979-05-27 07:32:00, 1979-05-27]
a = [07:32:00,1]
a = {}
a = { }
a = { b = 1, c = "d" }
a = { b.c = 1, b.d = 2 }
a = { b = { c = { d = {} } } }
a = { b = [ { c = 1 }, {} ] }
a = {"b c"=1,'d'.e=2}
[a]
[ a . b . "c" ]
[a.b.c]
[""]
["a]b"]
[a] # comment
[[a]]
[[ a . b ]]
[[a.b.c]] # comment
a=1
	a	=	1	
''') + [
    b"",
    b"\n",
    b"\r\n",
    b" ",
    b"\t\n \n",
    b"# no line end",
    b"a = 1\r\nb = 2\r\n",
    b"a = 1\n\n\n[b]\nc = 2\n",
    b"#\ttab\na = 1",
    "# \u0080 \u2028 \U0010ffff\n".encode(),
    b'a = """\none\ntwo"""',
    b'a = """\r\none\r\ntwo\r\n"""',
    b'a = """one \\\n   two"""',
    b'a = """one \\  \t \n \n\t two \\\r\n\r\n three"""',
    b'a = """\\\n"""',
    b'a = """\n\n"""',
    b'a = """\\\n   \\\n  x"""',
    b"a = '''\nfirst\n  'two'\n'''",
    b"a = '''\r\nfirst\r\n'''",
    b'a = """\t"""\nb = "\t"\nc = \'\t\'',
    b'a = [\n  1, # one\n\n  2 # two\n  , # comma\n  3,\n  # last\n]',
    b"a = [\r\n1,\r\n2\r\n]\r\n",
    b'a = [ """\n""", { b = """\nx\n""" } ]',
    b"a = { b = [\n1,\n2 ] }",
    # dotted keys
    b"a.b = 1\na.c = 2\n",
    b"a.b.c = 1\na.d = 2\na.b.e = 3\n",
    b"apple.type = 'f'\norange.type = 'f'\napple.skin = 't'\n",
    b"[a]\nb.c = 1\nb.d = 2\n",
    b"fruit.apple.smooth = true\nfruit.orange = 2\n",
    b"1.2.3 = 4\n",
    # tables
    b"[a]\n[b]\n",
    b"[a.b]\n[a]\n",
    b"[a.b.c]\n[a]\n[a.b]\nd = 1\n",
    b"[fruit]\napple.color = 'red'\napple.taste.sweet = true\n"
    b"[fruit.apple.texture]\nsmooth = true\n",
    b"[x.y.z.w]\n[x]\n",
    b"a = 1\n[b]\na = 1\n",
    b"[a]\nb = 1\n[c]\nb = 1\n[a.d]\nb = 1\n",
    # an implicit table that a dotted key extends
    b"[a.b.c]\nz = 9\n[a]\nb.d = 1\n",
    # arrays of tables
    b"[[a]]\n[[a]]\n[[a]]\n",
    b"[[a]]\nb = 1\n\n[[a]]\nb = 2\n",
    b"[[fruits]]\nname = 'a'\n[fruits.physical]\ncolor = 1\n"
    b"[[fruits.varieties]]\nname = 'b'\n[[fruits.varieties]]\nname = 'c'\n"
    b"[[fruits]]\nname = 'd'\n[[fruits.varieties]]\nname = 'e'\n",
    b"[[a.b]]\n[a]\nc = 1\n",
    b"[[a]]\nb.c = 1\n[[a]]\nb.c = 2\n",
    b"[[a]]\n[a.b]\n[[a]]\n[a.b]\n",
    b"[a]\n[[a.b]]\n[a.b.c]\n[[a.b]]\n[a.b.c]\n",
    b"points = [ { x = 1, y = 2 }, { x = 3, y = 4 } ]\n",
    b"[[a]]\n[a.b.c]\n[a.b]\n",
    b"\xef\xbb\xbfa = 1\n",
    b"\xef\xbb\xbf",
]

INVALID = lines(r'''
a
a =
= 1
a 1
a = 1 b = 2
a = # nothing
a b = 1
.a = 1
a. = 1
a..b = 1
a.b. = 1
ʎ = 1
a+b = 1
a/b = 1
a = b
"a = 1
'a = 1
"""a""" = 1
~~~a~~~ = 1
"\q" = 1
"a"b = 1
a = "
a = '
a = "a
a = "a" "b"
a = """
a = """a"
a = """a""
a = ~~~a''
a = """"""""""
a = """a""""""
a = "\a"
a = "\x41"
a = "\ "
a = "\u12"
a = "\u123"
a = "\u123g"
a = "\U1234567"
a = "\ud800"
a = "\udfff"
a = "\U00110000"
a = "\Uffffffff"
a = "\
a = """\q"""
a = """\ x"""
a = 01
a = +01
a = -01
a = 00
a = 1__0
a = _1
a = 1_
a = +_1
a = ++1
a = +-1
a = 0x
a = 0xg
a = 0x_1
a = 0x1_
a = 0x1__1
a = +0x1
a = -0b1
a = 0X1
a = 0O7
a = 0B1
a = 0o8
a = 0b2
a = 0o
a = 0b
a = 1 000
a = .7
a = 7.
a = 3.e+20
a = 1.0_
a = 1._0
a = 1_.0
a = 1e
a = 1e+
a = 1e_1
a = 1e1_
a = 1e1.0
a = 01.0
a = 00.0
a = +.1
a = 1.2.3
a = Inf
a = INF
a = NaN
a = infinity
a = +-inf
a = True
a = TRUE
a = tru
a = truee
a = falsey
a = 1979-5-27
a = 1979-05-7
a = 1979-13-01
a = 1979-00-01
a = 1979-01-00
a = 1979-01-32
a = 1979-02-29
a = 1900-02-29
a = 2100-02-29
a = 1979-04-31
a = 79-05-27
a = 1979-05-27T
a = 1979-05-27T7:32:00
a = 1979-05-27T07:32
a = 1979-05-27 07:32
a = 1979-05-27  07:32:00
a = 1979-05-27T24:00:00
a = 1979-05-27T07:60:00
a = 1979-05-27T07:32:61
a = 1979-05-27T07:32:00.
a = 1979-05-27T07:32:00.Z
a = 1979-05-27T07:32:00+24:00
a = 1979-05-27T07:32:00+07:60
a = 1979-05-27T07:32:00+7:00
a = 1979-05-27T07:32:00+0700
a = 1979-05-27T07:32:00ZZ
a = 1979-05-27Z
a = 1979-05-27_07:32:00
a = 07:32
a = 7:32:00
a = 24:00:00
a = 07:32:00Z
a = 07:32:00+01:00
a = 07:32:00.
a = [
a = [1
a = [1,
a = [1 2]
a = [,]
a = [1,,2]
a = [,1]
a = ]
a = [1]]
a = {
a = {b}
a = {b=}
a = {b=1
a = {b=1,}
a = {,}
a = {,b=1}
a = {b=1,,c=2}
a = {b=1 c=2}
a = {b=1, b=2}
a = {b=1, b.c=2}
a = {b={c=1}, b.d=2}
a = {b.c=1, b={}}
a = {b=[], b.c=1}
a = { # comment
[
[]
[a
a]
[a]]
[[a]
[[a] ]
[ [a]]
[[]]
[a]b
[a] b = 1
[a.]
[.a]
[a..b]
[a b]
["a]
[a=1]
[[a]]b
{a=1}
a = {}.b = 1
a.b = 1 = 2
a = ~~~
''') + [
    b"\xef\xbb\xbf\xef\xbb\xbfa = 1",
    b"a = 1\n\xef\xbb\xbf",
    b"a = \xef\xbb\xbf1",
    b"a = 1\rb = 2",
    b"a = 1\r",
    b"\r",
    b"# \r\r\n",
    b"# \x00",
    b"# \x7f",
    b"# \x1f",
    b"\x00",
    b"a\x00 = 1",
    b'a = "\x00"',
    b'a = "\x1f"',
    b'a = "\x7f"',
    b"a = '\x01'",
    b'a = """\x0b"""',
    b'a = """\r"""',
    b"a = '''\r'''",
    b"a = '''\x0c'''",
    b'a = "\r\n"',
    b"a = '\n'",
    b'"a\nb" = 1',
    b"# \xff",
    b"# \xc3",
    b'a = "\xc0\x80"',
    b'a = "\xed\xa0\x80"',
    b'a = "\xf4\x90\x80\x80"',
    b"a = '\xe2\x82'",
    b"\xc2\xa0a = 1",
    b"a = 1\xc2\xa0",
    b"a\n= 1",
    b"a =\n1",
    b"a.\nb = 1",
    b"[a\n]",
    b"[a]\n[\nb]",
    b"a = {\nb = 1 }",
    b"a = { b = 1\n}",
    b"a = { b = 1,\nc = 2 }",
    b"a = { b = 1 # c\n}",
    # redefinition
    b"a = 1\na = 2",
    b"a = 1\n'a' = 2",
    b'a = 1\n"\\u0061" = 2',
    b"a = 1\na.b = 2",
    b"a.b = 1\na = 2",
    b"a.b = 1\na.b.c = 2",
    b"a.b.c = 1\na.b = 2",
    b"a = []\na = 1",
    b"a = []\na.b = 1",
    b"a = {}\na.b = 1",
    b"a = { b = 1 }\na.c = 2",
    b"a = { b = { c = 1 } }\na.b.d = 2",
    b"a = { b = 1 }\n[a]",
    b"a = { b = 1 }\n[a.c]",
    b"a = { b = {} }\n[a.b]",
    b"a = { b = {} }\n[a.b.c]",
    b"a = { b = {} }\n[[a.b]]",
    b"a = { b = {} }\n[[a.c]]",
    b"[a]\n[a]",
    b"[a]\n['a']",
    b"[a]\nb = 1\n[a]\nc = 2",
    b"[a]\nb = 1\n[a.b]",
    b"[a]\nb = 1\n[a.b.c]",
    b"a = 1\n[a]",
    b"a = 1\n[a.b]",
    b"a = 1\n[[a]]",
    b"a = []\n[[a]]",
    b"a = [{}]\n[[a]]",
    b"a = [{ b = 1 }]\n[a.c]",
    b"a = [{ b = 1 }]\n[[a.b]]",
    b"a.b = 1\n[a]",
    b"a.b.c = 1\n[a.b]",
    b"a.b.c = 1\n[a]\n",
    b"[a]\nb.c = 1\n[a.b]",
    b"[a]\nb.c.d = 1\n[a.b.c]",
    b"[a]\nb.c = 1\n[[a.b]]",
    b"[a.b]\n[a]\nb.c = 1",
    b"[a.b.c]\nz = 9\n[a]\nb.c.t = 1",
    b"[a.b.c.d]\nz = 9\n[a]\nb.c.d.k.t = 1",
    b"[a.b]\n[a]\nb = 1",
    b"[a.b.c]\n[a]\nb.c = 1",
    b"[a]\n[[a]]",
    b"[[a]]\n[a]",
    b"[a.b]\n[[a]]",
    b"[[a.b]]\n[a.b]",
    b"[[a.b]]\n[a]\nb = 1",
    b"[[a.b]]\n[a]\nb.y = 2",
    b"[[a]]\nb = 1\nb = 2",
    b"[[a]]\n[a.b]\n[a.b]",
    b"[[a]]\nb = []\n[[a.b]]",
    b"[[a]]\nb.c = 1\n[a.b]",
    b"[fruit.physical]\n[[fruit]]",
    b"a = 1\n[b]\n[a]",
]
