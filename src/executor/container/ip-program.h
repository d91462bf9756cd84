/* Where this host has the programs that move interfaces (container-driver.md §17.2). */
#pragma once

/* Absolute paths, static; NULL: it is not there. Only where the system keeps programs of root. */
const char *ip_program_ip(void);
const char *ip_program_nsenter(void);
