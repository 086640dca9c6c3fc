"""One static archive of everything that a program links."""

def _static_archive_impl(ctx):
    archives = []
    flags = []
    for linker_input in ctx.attr.dep[CcInfo].linking_context.linker_inputs.to_list():
        flags.extend(linker_input.user_link_flags)
        for library in linker_input.libraries:
            if library.alwayslink:
                fail("%s must be linked whole, which an archive cannot ask for" % linker_input.owner)

            # The objects that the project's binaries link, so that nothing is compiled twice.
            archive = library.static_library or library.pic_static_library
            if archive:
                archives.append(archive)
    archive = ctx.actions.declare_file(ctx.label.name + ".a")
    script = ctx.actions.declare_file(ctx.label.name + ".mri")
    ctx.actions.write(script, "\n".join(
        ["CREATE " + archive.path] + ["ADDLIB " + a.path for a in archives] + ["SAVE", "END", ""],
    ))
    ctx.actions.run_shell(
        command = "/usr/bin/ar -M < %s && /usr/bin/ranlib -D %s" % (script.path, archive.path),
        inputs = archives + [script],
        outputs = [archive],
        mnemonic = "StaticArchive",
        progress_message = "Merging %{label}",
    )

    # What stands behind a library on the line must come after it: the last mention counts.
    last = []
    for flag in reversed(flags):
        if flag not in last:
            last.append(flag)
    link_flags = ctx.actions.declare_file(ctx.label.name + ".flags")
    ctx.actions.write(link_flags, " ".join(reversed(last)) + "\n")

    files = depset([archive, link_flags])
    headers = ctx.attr.dep[CcInfo].compilation_context.headers
    return [DefaultInfo(
        files = files,
        runfiles = ctx.runfiles(files = files.to_list(), transitive_files = headers),
    )]

static_archive = rule(
    doc = "NAME.a with all objects of `dep` and what it depends on, and NAME.flags, the linker's flags for what is " +
          "not ours. The headers are in the runfiles.",
    implementation = _static_archive_impl,
    attrs = {"dep": attr.label(providers = [CcInfo], mandatory = True)},
)
