# SPDX-License-Identifier: GPL-2.0-only
# Sourced: starts ClickHouse servers in directories of their own.  The server is that of Debian's
# package; `./run test --all` gets it without installing it, as its package starts a service.
#
#   clickhouse_find            0 and $clickhouse_server is set, or a line that says what is missing
#   clickhouse_start DIR NR    starts server NR, one of 0 and 1, with its data in DIR
#   clickhouse_kill DIR        SIGKILL
#   clickhouse_stop DIR
#   ch_query NR [OPTIONS]      the statements on standard input
#   ch_url NR                  of the HTTP interface
# Both servers are shards of the cluster "fleet".

# below the ports that the kernel gives to clients
clickhouse_base=$((10000 + $$ % 20000))

clickhouse_find()
{
	cache=${XDG_CACHE_HOME:-$HOME/.cache}/stackonce/judges
	clickhouse_server=$(command -v clickhouse-server ||
		command -v "$cache/clickhouse/usr/sbin/clickhouse-server")
	for tool in clickhouse-client curl "${clickhouse_server:-clickhouse-server}"; do
		command -v "$tool" >/dev/null || {
			echo "there is no $tool: './run test --all' gets it"
			return 1
		}
	done
}

# ports: NR * 3 + 0 native, 1 HTTP, 2 between servers
clickhouse_port()
{
	echo $((clickhouse_base + $1 * 3 + $2))
}

clickhouse_shard()
{
	echo "<shard><replica><host>127.0.0.1</host>"
	echo "<port>$(clickhouse_port "$1" 0)</port></replica></shard>"
}

clickhouse_configure()
{
	cat >"$1/config.xml" <<-XML
		<yandex>
		<logger><level>warning</level>
		<log>$1/log</log><errorlog>$1/errors</errorlog></logger>
		<listen_host>127.0.0.1</listen_host>
		<tcp_port>$(clickhouse_port "$2" 0)</tcp_port>
		<http_port>$(clickhouse_port "$2" 1)</http_port>
		<interserver_http_port>$(clickhouse_port "$2" 2)</interserver_http_port>
		<path>$1/data/</path><tmp_path>$1/tmp/</tmp_path>
		<users_config>users.xml</users_config>
		<default_profile>default</default_profile>
		<default_database>default</default_database>
		<mark_cache_size>67108864</mark_cache_size>
		<timezone>UTC</timezone>
		<compression><case><min_part_size>0</min_part_size>
		<min_part_size_ratio>0</min_part_size_ratio>
		<method>zstd</method></case></compression>
		<remote_servers><fleet>
		$(clickhouse_shard 0)$(clickhouse_shard 1)
		</fleet></remote_servers>
		</yandex>
	XML
	# small blocks: a server that is killed has stored some of an insert
	cat >"$1/users.xml" <<-XML
		<yandex><profiles><default>
		<max_memory_usage>1500000000</max_memory_usage><max_threads>2</max_threads>
		<allow_experimental_low_cardinality_type>1</allow_experimental_low_cardinality_type>
		<insert_distributed_sync>1</insert_distributed_sync>
		<max_insert_block_size>20000</max_insert_block_size>
		<min_insert_block_size_rows>20000</min_insert_block_size_rows>
		</default></profiles><users><default><password></password>
		<networks><ip>127.0.0.1</ip></networks><profile>default</profile>
		<quota>default</quota></default></users>
		<quotas><default></default></quotas></yandex>
	XML
}

clickhouse_start()
{
	mkdir -p "$1/data" "$1/tmp"
	[ -f "$1/config.xml" ] || clickhouse_configure "$1" "$2"
	(cd "$1" && exec "$clickhouse_server" --config-file=config.xml >out 2>&1) &
	echo $! >"$1/pid"
	for _ in $(seq 300); do
		echo 'SELECT 1' | ch_query "$2" >/dev/null 2>&1 && return
		kill -0 "$(cat "$1/pid")" 2>/dev/null || break
		sleep 0.1
	done
	echo "FAILED: the server does not answer"
	cat "$1/out" "$1/errors" 2>/dev/null
	return 1
}

clickhouse_kill()
{
	kill -9 "$(cat "$1/pid")" 2>/dev/null
	wait "$(cat "$1/pid")" 2>/dev/null
	rm -f "$1/data/status"
}

clickhouse_stop()
{
	[ -f "$1/pid" ] || return 0
	kill "$(cat "$1/pid")" 2>/dev/null
	wait "$(cat "$1/pid")" 2>/dev/null
	rm -f "$1/pid"
}

ch_query()
{
	nr=$1
	shift
	clickhouse-client --host 127.0.0.1 --port "$(clickhouse_port "$nr" 0)" -n "$@"
}

ch_url()
{
	echo "http://127.0.0.1:$(clickhouse_port "$1" 1)/"
}
