/* Spark tables as the server describes them: for tests of what is read from its answers. */
#ifndef BRUME_ENGINE_ADBC_SPARK_H
#define BRUME_ENGINE_ADBC_SPARK_H

/* A folder as it is compared: one text for what is known to be one folder. */
char *brume_spark_folder(const char *location);

#endif
