#include "image/platform.h"

static const struct architecture {
	const char *name;     /* as images name it */
	const char *also;     /* what its processors run, too; NULL = nothing */
	const char *emulator; /* elsewhere */
} architectures[] = {
	{"amd64", "386", "qemu-x86_64"},
	{"386", NULL, "qemu-i386"},
	{"arm64", "arm", "qemu-aarch64"},
	{"arm", NULL, "qemu-arm"},
	{"ppc64le", NULL, "qemu-ppc64le"},
	{"s390x", NULL, "qemu-s390x"},
	{"riscv64", NULL, "qemu-riscv64"},
	{"loong64", NULL, "qemu-loongarch64"},
	{"mips64le", NULL, "qemu-mips64el"},
};

static const struct architecture *find(struct text name)
{
	for (size_t i = 0; i < ARRAY_SIZE(architectures); i++)
		if (text_is(name, architectures[i].name))
			return &architectures[i];
	return NULL;
}

const char *platform_emulator(struct text image, struct text machine)
{
	const struct architecture *wanted = find(image), *here = find(machine);

	if (!wanted || !here || wanted == here || (here->also && text_is(image, here->also)))
		return NULL;
	return wanted->emulator;
}
