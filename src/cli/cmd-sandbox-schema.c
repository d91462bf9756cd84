#include <stdio.h>

#include "cli/cli.h"
#include "cli/commands.h"
#include "schema/json-schema.h"
#include "spec/spec-keys.h"
#include "spec/spec.h"

static int run(struct cli *c, struct error *err)
{
	(void)c;
	(void)err;
	cli_print_json(json_schema_of(
		spec_keys_schema(), "urn:cloop:sandbox.yaml", SPEC_PATH " of a project"));
	return CLI_OK;
}

const struct verb cmd_sandbox_schema = {
	.group = "sandbox",
	.name = "schema",
	.summary = "print the JSON Schema of the sandbox file",
	.flags = VERB_JSON,
	.help = "For editors that complete and check YAML while it is written. In VS Code with the "
		"YAML extension, for one:\n"
		"  cloop sandbox schema > sandbox.schema.json\n"
		"  # yaml-language-server: $schema=sandbox.schema.json\n"
		"The schema is a help; cloop sandbox check decides.",
	.run = run,
};
