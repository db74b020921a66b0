"""cluster citus: the clinic on an installed Citus. Citus is in no package registry and its licence (AGPL) keeps it out
of this repository, so it must be there: then its tables take the same SQL and the same protocol."""
import os
import subprocess
import sys

from cluster_servers import COLUMNS, Cluster, find_programs
from cluster_ways import run_clinic

MISSING = """cluster: no Citus for these PostgreSQL server programs: {control} is not there.
Citus is in no package registry. Its makers have packages (for PostgreSQL 15 on Debian: postgresql-15-citus-12.1), which
their installation guide, https://docs.citusdata.com, says how to add; or build it from
https://github.com/citusdata/citus with the pg_config of these programs. Then run this again."""


def control_file(programs):
    """Where PostgreSQL would look for the extension."""
    config = os.path.join(programs, "pg_config")
    if not os.path.exists(config):
        config = "pg_config"
    shared = subprocess.run([config, "--sharedir"], check=True, capture_output=True, text=True).stdout.strip()
    return os.path.join(shared, "extension", "citus.control")


def main(brume, visits_program, rest):
    control = control_file(find_programs())
    if not os.path.exists(control):
        print(MISSING.format(control=control), file=sys.stderr)
        return 3
    visits = int(rest[0]) if rest else 200000
    with Cluster(brume, visits_program, "-c shared_preload_libraries=citus") as cluster:
        csv = cluster.make_visits(visits)
        alone, first, *workers = cluster.servers
        for server in cluster.servers[1:]:
            server.psql("CREATE EXTENSION citus")
        first.psql(f"SELECT citus_set_coordinator_host('{first.folder}', {first.port})")
        for worker in workers:
            first.psql(f"SELECT citus_add_node('{worker.folder}', {worker.port})")
        first.psql(f"CREATE TABLE visits ({COLUMNS}); SELECT create_distributed_table('visits', 'patient')")
        first.load(csv)
        alone.psql(f"CREATE TABLE visits ({COLUMNS})")
        alone.load(csv)
        for name, server in (("one", alone), ("citus", first)):
            run_clinic(cluster.clinic(name, server), False)
    return 0
