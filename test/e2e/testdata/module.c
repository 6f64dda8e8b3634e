// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// A module that does nothing, in the place of one that is not to be had. It needs neither
// a header nor a library: the first word of the context is the function that finds the
// others by their names.

int ValkeyModule_OnLoad(void *ctx, void **argv, int argc) {
	int (*get)(const char *, void *) = *(int (**)(const char *, void *))ctx;
	void (*attributes)(void *, const char *, int, int);
	(void)argv;
	if (get("ValkeyModule_SetModuleAttribs", &attributes) != 0)
		return 1;
	attributes(ctx, argc > 0 ? "search" : "json", 1, 1);
	return 0;
}
