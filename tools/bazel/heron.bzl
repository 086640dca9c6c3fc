"""The project's own rules: C++ with strict warnings, and protobuf by Debian's protoc."""

COPTS = [
    "-std=c++20",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-Wshadow",
    "-Wnon-virtual-dtor",
    "-Woverloaded-virtual",
    "-Wcast-align",
    "-Wunused",
    "-Wno-missing-field-initializers",
]

def heron_library(name, copts = [], visibility = None, **kwargs):
    """A library. Private to its package unless `visibility` says otherwise."""
    native.cc_library(
        name = name,
        copts = COPTS + copts,
        visibility = visibility or ["//visibility:private"],
        linkstatic = True,
        **kwargs
    )

def heron_binary(name, copts = [], visibility = None, **kwargs):
    native.cc_binary(
        name = name,
        copts = COPTS + copts,
        visibility = visibility or ["//visibility:private"],
        **kwargs
    )

def heron_test(name, copts = [], deps = [], size = "small", main = True, **kwargs):
    """A GoogleTest. `main = False` where the test brings its own main()."""
    gtest = "//tools/bazel/third_party:gtest_main" if main else "//tools/bazel/third_party:gtest"
    native.cc_test(
        name = name,
        copts = COPTS + copts,
        size = size,
        deps = deps + [gtest],
        **kwargs
    )

def heron_fuzz_test(name, srcs, corpus, deps = [], **kwargs):
    """A decoder's fuzz target (LLVMFuzzerTestOneInput) with its stored corpus.

    `NAME` replays the corpus as an ordinary test; `NAME_fuzz` (manual, --config=fuzz) is the libFuzzer binary.
    """
    native.cc_test(
        name = name,
        srcs = srcs + ["//tests/fuzz:replay_main.cc"],
        copts = COPTS,
        args = ["$(location %s)" % f for f in corpus],
        data = corpus,
        size = "small",
        deps = deps,
        **kwargs
    )
    native.cc_binary(
        name = name + "_fuzz",
        srcs = srcs,
        copts = COPTS,
        linkopts = ["-fsanitize=fuzzer"],
        tags = ["manual"],
        deps = deps,
    )

ProtoFiles = provider(fields = ["files"])

def _proto_cc_impl(ctx):
    deps = depset(transitive = [d[ProtoFiles].files for d in ctx.attr.deps])
    all_protos = depset(ctx.files.srcs, transitive = [deps])
    headers = []
    sources = []
    for src in ctx.files.srcs:
        base = src.basename[:-len(".proto")]
        headers.append(ctx.actions.declare_file(base + ".pb.h"))
        sources.append(ctx.actions.declare_file(base + ".pb.cc"))
    ctx.actions.run(
        executable = "/usr/bin/protoc",
        arguments = ["-I.", "--cpp_out=" + ctx.bin_dir.path] + [f.path for f in ctx.files.srcs],
        inputs = all_protos,
        outputs = headers + sources,
        mnemonic = "Protoc",
        progress_message = "Generating protobuf code for %{label}",
    )
    return [
        DefaultInfo(files = depset(headers + sources)),
        OutputGroupInfo(headers = depset(headers), sources = depset(sources)),
        ProtoFiles(files = all_protos),
    ]

_proto_cc = rule(
    implementation = _proto_cc_impl,
    attrs = {
        "srcs": attr.label_list(allow_files = [".proto"]),
        "deps": attr.label_list(providers = [ProtoFiles]),
    },
)

def heron_proto_library(name, srcs, deps = [], visibility = None):
    """Generated C++ of .proto files; includes read "proto/x.pb.h"."""
    _proto_cc(
        name = name + "_gen",
        srcs = srcs,
        deps = [d + "_gen" for d in deps],
        visibility = visibility or ["//visibility:private"],
    )
    native.filegroup(name = name + "_hdrs", srcs = [name + "_gen"], output_group = "headers")
    native.filegroup(name = name + "_srcs", srcs = [name + "_gen"], output_group = "sources")
    native.cc_library(
        name = name,
        srcs = [name + "_srcs"],
        hdrs = [name + "_hdrs"],
        copts = ["-std=c++20", "-w", "-O1"],
        deps = deps + ["//tools/bazel/third_party:protobuf"],
        visibility = visibility or ["//visibility:private"],
        linkstatic = True,
    )
