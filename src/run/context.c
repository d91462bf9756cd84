#include "run/context.h"

#include "executor/drivers/drivers.h"

void context_done(struct context *c)
{
	executor_list_done(&c->executors);
	config_done(&c->config);
	home_done(&c->home);
}

static int load(const char *path, struct config *ret, struct error *err)
{
	const char *rule = image_rule_text(IMAGE_RULE_POLICY_CONFIGURATION);

	return config_load(path, ret, err) < 0 ? error_add_detail(err, "rule", json_string(rule))
					       : 0;
}

int context_open(const char *home, const char *config_path, struct context *ret, struct error *err)
{
	*ret = (struct context){.home = HOME_INIT};
	if (load(config_path, &ret->config, err) < 0 || home_open(home, &ret->home, err) < 0) {
		context_done(ret);
		*ret = (struct context){.home = HOME_INIT};
		return -1;
	}
	struct executor_settings settings = config_executor_settings(&ret->config, ret->home.path);
	if (drivers_open(&settings, &ret->executors, err) < 0) {
		context_done(ret);
		*ret = (struct context){.home = HOME_INIT};
		return -1;
	}
	return 0;
}

struct executor *context_executor(const struct context *c, const char *id, struct error *err)
{
	return executor_list_find(
		&c->executors, id ? id : config_default_executor(&c->config), err);
}
