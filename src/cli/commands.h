/* The rows of the verb table; each is defined in the file of its command (cmd-*.c). */
#pragma once

#include "cli/verb.h"

extern const struct verb cmd_attach;
extern const struct verb cmd_audit_export;
extern const struct verb cmd_audit_list;
extern const struct verb cmd_audit_verify;
extern const struct verb cmd_completion;
extern const struct verb cmd_config_check;
extern const struct verb cmd_config_init;
extern const struct verb cmd_config_set;
extern const struct verb cmd_config_show;
extern const struct verb cmd_doctor;
extern const struct verb cmd_egress_firewall;
extern const struct verb cmd_executor_list;
extern const struct verb cmd_executor_reap;
extern const struct verb cmd_executor_show;
extern const struct verb cmd_executor_test;
extern const struct verb cmd_generate_man;
extern const struct verb cmd_help;
extern const struct verb cmd_image_check;
extern const struct verb cmd_image_parse;
extern const struct verb cmd_image_resolve;
extern const struct verb cmd_journal;
extern const struct verb cmd_lease_extend;
extern const struct verb cmd_lease_list;
extern const struct verb cmd_lease_revoke;
extern const struct verb cmd_logs;
extern const struct verb cmd_project_forget;
extern const struct verb cmd_project_list;
extern const struct verb cmd_project_set;
extern const struct verb cmd_project_show;
extern const struct verb cmd_ps;
extern const struct verb cmd_run;
extern const struct verb cmd_sandbox_check;
extern const struct verb cmd_sandbox_explain;
extern const struct verb cmd_sandbox_init;
extern const struct verb cmd_sandbox_schema;
extern const struct verb cmd_secret_delete;
extern const struct verb cmd_secret_grant;
extern const struct verb cmd_secret_grants;
extern const struct verb cmd_secret_lease;
extern const struct verb cmd_secret_list;
extern const struct verb cmd_secret_mint;
extern const struct verb cmd_secret_rekey;
extern const struct verb cmd_secret_revoke;
extern const struct verb cmd_status;
extern const struct verb cmd_stop;
extern const struct verb cmd_task_add;
extern const struct verb cmd_task_list;
extern const struct verb cmd_task_reset;
extern const struct verb cmd_task_show;
extern const struct verb cmd_version;
extern const struct verb cmd_wait;
