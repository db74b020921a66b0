#!/usr/bin/env python3
"""The installed package: symbols, versions, headers, both ways of linking, man page, completions.

    test_package.py SOURCE BUILD    (TAP)
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

source, build = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
headers = sorted(os.path.join(path, name)
                 for path, _, names in os.walk(os.path.join(source, "include/brume"))
                 for name in names if name.endswith(".h"))
# Of the second library, libbrume-sql; brume.h does not include them.
of_sql = [path for path in headers if os.path.basename(path) in ("session.h", "arrow.h")]
stage = tempfile.mkdtemp(prefix="brume-package-")
number = failed = 0


def run(*command, environment=None, **more):
    """Standard output of a command that must succeed."""
    done = subprocess.run(command, env=dict(os.environ, **(environment or {})), check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(command)[:300]}: exit {done.returncode}\n{done.stdout[-2000:]}")
    return done.stdout


def check(holds, why):
    if not holds:
        raise AssertionError(why)


def test(action):
    global number, failed
    number += 1
    name = action.__name__
    try:
        skipped = action()
        print(f"ok {number} - {name}" + (f" # SKIP {skipped}" if skipped else ""))
    except Exception as why:  # a test that breaks has failed
        failed += 1
        print(f"not ok {number} - {name}")
        print("\n".join("# " + line for line in str(why).splitlines()))
    sys.stdout.flush()


def installed(name):
    """The installed file whose path ends so."""
    found = [os.path.join(path, file) for path, _, files in os.walk(stage) for file in files
             if os.path.join(path, file).endswith("/" + name)]
    check(found, f"{name} is not installed")
    return found[0]


def package_environment():
    return {"PKG_CONFIG_PATH": os.path.dirname(installed("brume.pc")),
            "PKG_CONFIG_SYSROOT_DIR": stage}


def flags(*options):
    return run("pkg-config", *options, "brume", environment=package_environment()).split()


# --- tests -----------------------------------------------------------------------------------------

def check_exports(library, of, least):
    declared = set(run(os.path.join(source, "tools/exported_names"), *of).split())
    table = run("nm", "-D", "--defined-only", "--without-symbol-versions", library)
    exported = {line.split()[-1] for line in table.splitlines() if " A " not in line}
    check(len(declared) > least, "the headers declare next to nothing: the pattern is broken")
    check(not exported - declared, f"exported, not declared: {sorted(exported - declared)}")
    check(not declared - exported, f"declared, not exported: {sorted(declared - exported)}")


def the_shared_library_exports_what_the_headers_declare_and_nothing_else():
    check_exports(os.path.join(build, "libbrume.so"),
                  [path for path in headers if path not in of_sql], 20)


def the_library_of_sessions_exports_what_session_h_declares_and_nothing_else():
    check_exports(os.path.join(build, "src/session/libbrume-sql.so"), of_sql, 10)


def no_function_has_left_a_library_and_new_ones_are_listed():
    for name, library in (("libbrume", "libbrume.so"),
                          ("libbrume-sql", "src/session/libbrume-sql.so")):
        table = run("nm", "-D", "--defined-only", os.path.join(build, library))
        exported = {line.split()[-1].replace("@@", "@") for line in table.splitlines()
                    if " A " not in line}
        path = os.path.join(source, f"tests/package/{name}.symbols")
        listed = set(open(path, encoding="utf-8").read().split())
        check(not listed - exported, f"{name} no longer has {sorted(listed - exported)}: its users "
              "break, and its soname must change")
        check(not exported - listed, f"add to {path}: {sorted(exported - listed)}")


def layouts(options=()):
    """'struct.member offset' and 'struct size' of all public structs, 'enum.NAME value' of enums, by the
    compiler's debugging information."""
    text = "".join(f"#include <{os.path.relpath(path, os.path.join(source, 'include'))}>\n" for path in headers)
    compiled = os.path.join(stage, "layouts.o")
    run("cc", "-std=c11", "-g", "-fno-eliminate-unused-debug-types", f"-I{os.path.dirname(os.path.dirname(installed('brume.h')))}",
        *options, "-x", "c", "-c", "-", "-o", compiled, input=text)
    dump = run("readelf", "--wide", "--debug-dump=info", compiled, environment={"LC_ALL": "C"})
    named, inside = set(), {}  # INSIDE: the names of the DIEs that are open, by depth
    for die in re.split(r"^ *<(?=[0-9a-f]+><[0-9a-f]+>: Abbrev Number)", dump, flags=re.M)[1:]:
        depth, kind = re.match(r"([0-9a-f]+)>.*?\((DW_TAG_\w+)\)|([0-9a-f]+)>", die).group(1, 2)
        if not depth:
            continue  # the end of a list
        depth = int(depth, 16)
        said = dict(re.findall(r"DW_AT_(\w+) *: (?:\(\w+\) *)?(?:\(.*?\): )?(.*?)\s*$", die, re.M))
        name = said.get("name", "")
        above = inside.get(depth - 1, "") if kind in ("DW_TAG_member", "DW_TAG_enumerator") else ""
        inside[depth] = name
        if kind == "DW_TAG_structure_type" and name.startswith("brume_") and "byte_size" in said:
            named.add(f"{name} {int(said['byte_size'], 0)}")
        elif above.startswith("brume_"):
            value = said.get("data_member_location", said.get("const_value", "0"))
            named.add(f"{above}.{name} {int(value, 0)}")
    return named


def no_struct_has_changed_and_new_ones_are_listed():
    path = os.path.join(source, "tests/package/libbrume.layouts")
    listed, there = set(open(path, encoding="utf-8").read().splitlines()), layouts()
    check(not listed - there, f"moved or gone: {sorted(listed - there)}: programs that were built before break, and "
          "the number of the library must change")
    check(not there - listed, f"add to {path}: {sorted(there - listed)}")
    check(layouts(["-fpack-struct"]) != there, "structs without gaps are not found to be others")


def every_header_is_installed_and_is_in_brume_h():
    umbrella = open(os.path.join(source, "include/brume/brume.h"), encoding="utf-8").read()
    for path in headers:
        name = os.path.relpath(path, os.path.join(source, "include"))
        installed("include/" + name)
        check(name == "brume/brume.h" or (path in of_sql) != (f"<{name}>" in umbrella), f"brume.h does not include {name}")
    installed("status.def")
    installed("version.h")


def every_header_compiles_alone_in_c_and_in_cplusplus():
    include = os.path.dirname(os.path.dirname(installed("brume.h")))
    plus = shutil.which("clang")
    for path in headers:
        text = f"#include <{os.path.relpath(path, os.path.join(source, 'include'))}>\n"
        common = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", f"-I{include}"]
        run("cc", "-std=c11", *common, "-x", "c", "-", input=text)
        if plus:
            run(plus, "-std=c++17", "-nostdinc++", *common, "-x", "c++", "-", input=text)


def what_run_installs(text):
    """Debian's names of the list of packages to build with, without those that only tests need."""
    listed = re.search(r"^build_packages='\n(.*?)^'", text, re.M | re.S)[1]
    names = {line.split()[0].rstrip("?") for line in listed.splitlines() if line.strip()}
    return names - {"gcc", "libc6-dev", "libcmocka-dev", "ca-certificates", "python3-pip"}


def the_debian_packages_are_built_with_what_run_installs():
    text = open(os.path.join(source, "run"), encoding="utf-8").read()
    control = open(os.path.join(source, "debian/control"), encoding="utf-8").read()
    needed = re.search(r"^Build-Depends:(.*(?:\n .*)*)", control, re.M)[1]
    needed = set(re.findall(r"[\w.+-]+", re.sub(r"\([^)]*\)", "", needed)))
    check(not what_run_installs(text) - needed, f"add to debian/control: {sorted(what_run_installs(text) - needed)}")
    more = text.replace("build_packages='\n", "build_packages='\n    libnew-dev header:new.h\n")
    check(what_run_installs(more) - needed == {"libnew-dev"}, "a package that is missing is not found")


def the_fetched_duckdb_is_one_that_is_tested():
    name = run(os.path.join(source, "tools/fetch-duckdb"), "--name").strip()
    version = re.search(r"@(\d+\.\d+)\.\d+-", name)[1]
    header = open(os.path.join(source, "src/engine/libduckdb_version.h"), encoding="utf-8").read()
    check(f'"v{version}."' in header, f"{name} is not in src/engine/libduckdb_version.h")
    install = open(os.path.join(source, "docs/install.md"), encoding="utf-8").read()
    check(re.search(r"@(\d+\.\d+\.\d+)-", name)[1] in install, f"docs/install.md does not name {name}")


def one_version_is_everywhere():
    version = open(os.path.join(source, "VERSION"), encoding="utf-8").read().strip()
    check(re.fullmatch(r"\d+\.\d+\.\d+(\.dev0)?", version), version)
    numbers = version.replace(".dev0", "")
    log = open(os.path.join(source, "CHANGELOG.md"), encoding="utf-8").read()
    sections = re.findall(r"^## (Unreleased|[\d.]+ \([\d-]+\))$", log, re.M)
    released = next(section.split()[0] for section in sections if section != "Unreleased")
    if sections[0] == "Unreleased":
        check(version != numbers, f"{version} would be a release, and CHANGELOG.md begins with what is unreleased")
        check([int(part) for part in numbers.split(".")] > [int(part) for part in released.split(".")],
              f"{version} does not come after {released}")
    else:
        check(version == released, f"CHANGELOG.md begins with {released}, VERSION is {version}")
    check(run(installed("bin/brume"), "--version").strip() == f"brume {version}", "brume --version")
    check(flags("--modversion") == [version], "pkg-config --modversion")
    check(f'"{version}"' in open(installed("version.h"), encoding="utf-8").read(), "version.h")
    check(os.path.basename(installed(f"libbrume.so.{numbers}")), "libbrume.so")


def examples_compile_against_the_installed_library_shared_and_static():
    folder = os.path.join(source, "examples")
    names = sorted(name for name in os.listdir(folder) if name.endswith(".c"))
    check(names, "there are no examples")
    library = os.path.dirname(installed("libbrume.so"))
    static = os.path.join(library, "libbrume.a")
    for name in names:
        text = os.path.join(folder, name)
        if "#include <brume/" not in open(text, encoding="utf-8").read():
            continue
        program = os.path.join(stage, "example")
        if "#include <brume/session.h>" in open(text, encoding="utf-8").read():
            run("cc", "-std=gnu11", text, "-o", program,
                *run("pkg-config", "--cflags", "--libs", "brume-sql",
                     environment=package_environment()).split())
            check("cost" in run(program, environment={"LD_LIBRARY_PATH": library}), "its answer")
            continue
        run("cc", "-std=gnu11", text, "-o", program, *flags("--cflags", "--libs"), "-lm")
        run(program, environment={"LD_LIBRARY_PATH": library})
        arguments = flags("--static", "--libs")
        check("-lbrume" in arguments, "pkg-config names no -lbrume")
        arguments[arguments.index("-lbrume")] = static
        run("cc", "-std=gnu11", text, "-o", program, *flags("--cflags"), *arguments)
        check("libbrume" not in run("readelf", "-d", program), f"{name} is not linked statically")
        run(program)


def the_installed_program_does_not_need_the_build_folder():
    program = installed("bin/brume")
    check(build not in run("readelf", "-d", program), "the build folder is in the run path")
    check("laplace" in run(program, "mechanisms"), "brume mechanisms")


def the_man_page_has_every_command_and_every_card_and_no_warning():
    page = installed("brume.1")
    check(page.endswith("share/man/man1/brume.1"), page)
    # grotty's own warning about colour escapes is not about the page
    rendered = run("man", "--warnings=w", "-l", page, environment={"MANWIDTH": "100", "LC_ALL": "C.UTF-8"})
    check("warning" not in rendered and "error:" not in rendered, rendered[:2000])
    text = re.sub(r"\s+", " ", rendered)
    for kind, key in (("help", "commands"), ("mechanisms", "mechanisms")):
        listed = json.loads(run(installed("bin/brume"), kind, "--json"))[key]
        for item in listed:
            check(item["name"] in text, f"{item['name']} is not on the man page")


BASH = r"""
source "$1"
ask() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _brume; echo "${COMPREPLY[*]}"; }
ask brume mech
ask brume help --completion z
ask brume mechanisms --j
ask brume noise discrete_l
ask brume help accu
ask brume accuracy --beta ''
"""


def bash_completes_commands_options_choices_and_mechanisms():
    script = installed("share/bash-completion/completions/brume")
    lines = run("bash", "-c", BASH, "bash", script).splitlines()
    check(lines == ["mechanisms", "zsh", "--json", "discrete_laplace", "accuracy", ""], str(lines))


def zsh_and_fish_accept_their_completions():
    missing = [shell for shell in ("zsh", "fish") if not shutil.which(shell)]
    if missing:
        return f"not installed: {', '.join(missing)}"
    run("zsh", "-n", installed("_brume"))
    fish = installed("brume.fish")
    run("fish", "--no-execute", fish)
    said = run("fish", "--no-config", "-c", f"source {fish}; complete -C 'brume mech'")
    check(said.startswith("mechanisms\t"), said)
    said = run("fish", "--no-config", "-c", f"source {fish}; complete -C 'brume help --completion b'")
    check("bash" in said, said)


def main():
    run("meson", "install", "-C", build, "--no-rebuild", "--quiet", "--destdir", stage)
    try:
        for name, action in list(globals().items()):
            if callable(action) and getattr(action, "__module__", "") == "__main__" and \
                    name.count("_") >= 3 and not name.isupper():
                test(action)
        print(f"1..{number}")
    finally:
        shutil.rmtree(stage)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
