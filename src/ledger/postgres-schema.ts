/** By the database's clock, and after any wait for a lock; `now()` would be the time at which the statement began. */
export const NOW = "floor(extract(epoch from clock_timestamp()) * 1000)::bigint";

/** The names of what belongs to a table. The functions carry a version: two versions of this package may run side by side. */
export function namesOf(table: string): { readonly claim: string; readonly change: string } {
  return { claim: `${table}_claim_1`, change: `${table}_change_1` };
}

/**
 * What Postgres holds: one table, and two functions that judge a claim and change a held effect, each in one statement,
 * so that no lock is ever held while a process is away. Run as one simple query, it is one transaction.
 */
export function schemaSql(table: string): string {
  const { claim, change } = namesOf(table);
  const index = `${table.replace(/^.*\./, "")}_keep_until`;
  return `
select pg_advisory_xact_lock(hashtextextended('volley-mcp ${table}', 0));

create table if not exists ${table} (
  id text primary key,
  keep_until bigint not null,
  -- An array of {name, state, owner, epoch, lease, answers}; a settled one has {failed, outcome: its place in outcomes}.
  effects jsonb not null default '[]',
  outcomes bytea[] not null default '{}'
);
create index if not exists ${index} on ${table} (keep_until);

-- The rule of claims, as rule.ts says it.
create or replace function ${claim}(
  p_id text, p_name text, p_owner text, p_answers jsonb,
  p_deadline bigint, p_keep_until bigint, p_lease_ms bigint, p_take_over boolean,
  out r_status text, out r_epoch integer, out r_name text, out r_failed boolean, out r_value bytea
) returns setof record language plpgsql as $$
declare
  v_row ${table};
  v_locked boolean := false;
  v_now bigint;
  v_own jsonb;
  v_at integer;
  v_contradicted boolean;
  v_undecided boolean;
begin
  loop
    -- A claim that changes nothing is answered from what is committed; only one that writes takes the row's lock.
    if v_locked then
      select * into v_row from ${table} where id = p_id for update;
    else
      select * into v_row from ${table} where id = p_id;
    end if;
    v_now := ${NOW};
    if v_now > p_deadline then
      r_status := 'expired';
      return next;
      return;
    end if;
    if v_locked and v_row.id is null then
      insert into ${table} (id, keep_until) values (p_id, p_keep_until) on conflict do nothing;
      continue;
    end if;
    if v_row.id is null or v_row.keep_until < v_now then
      v_row.effects := '[]';
      v_row.outcomes := '{}';
    end if;

    select bool_or(contradicted), bool_and(alive) filter (where contradicted), max(at) filter (where own) - 1
      into v_contradicted, v_undecided, v_at
      from (
        select
          at,
          e->>'name' = p_name as own,
          e->>'state' = 'running' and (e->>'lease')::bigint > v_now as alive,
          exists (select from jsonb_each_text(e->'answers') a where p_answers->>a.key <> a.value) as contradicted
        from jsonb_array_elements(v_row.effects) with ordinality as element (e, at)
      ) effect;
    v_own := v_row.effects->v_at;
    r_epoch := (v_own->>'epoch')::integer;

    if v_contradicted then
      r_status := case when v_undecided then 'running' else 'conflict' end;
    elsif v_own->>'state' = 'settled' then
      r_status := 'settled';
    elsif v_own->>'state' = 'running' and (v_own->>'lease')::bigint > v_now then
      r_status := case when v_own->>'owner' = p_owner then 'claimed' else 'running' end;
    elsif v_own is not null and not p_take_over then
      r_status := 'in_doubt';
    else
      r_status := 'begin';
    end if;

    exit when v_locked or (r_status <> 'begin' and v_row.keep_until >= p_keep_until);
    v_locked := true;
  end loop;

  if r_status = 'begin' then
    r_status := 'claimed';
    r_epoch := coalesce(r_epoch, 0) + 1;
    v_own := jsonb_build_object('name', p_name, 'state', 'running', 'owner', p_owner, 'epoch', r_epoch,
      'lease', v_now + p_lease_ms, 'answers', p_answers);
    update ${table} set
      keep_until = greatest(keep_until, p_keep_until, v_now + p_lease_ms),
      effects = case when v_at is null then v_row.effects || v_own
        else jsonb_set(v_row.effects, array[v_at::text], v_own) end,
      outcomes = v_row.outcomes
      where id = p_id;
  elsif v_locked then
    update ${table} set keep_until = greatest(keep_until, p_keep_until) where id = p_id;
  end if;

  if r_status not in ('settled', 'conflict') then
    return next;
    return;
  end if;
  for v_own in
    select e from jsonb_array_elements(v_row.effects) e
    where e->>'state' = 'settled' and (r_status = 'conflict' or e->>'name' = p_name)
  loop
    r_name := v_own->>'name';
    r_failed := v_own->>'failed';
    r_value := v_row.outcomes[(v_own->>'outcome')::integer];
    return next;
  end loop;
  -- A conflict with nothing settled yet is a row without a name.
  if r_name is null then
    return next;
  end if;
end
$$;

create or replace function ${change}(
  p_id text, p_name text, p_owner text, p_epoch integer, p_change text,
  p_lease_ms bigint, p_failed boolean, p_value bytea
) returns boolean language plpgsql as $$
declare
  v_row ${table};
  v_now bigint;
  v_own jsonb;
  v_at integer;
begin
  select * into v_row from ${table} where id = p_id for update;
  v_now := ${NOW};
  select e, at - 1 into v_own, v_at
    from jsonb_array_elements(v_row.effects) with ordinality as element (e, at)
    where e->>'name' = p_name and e->>'state' = 'running'
      and e->>'owner' = p_owner and (e->>'epoch')::integer = p_epoch;
  if v_at is null or v_row.keep_until < v_now then
    return false;
  end if;
  if p_change = 'release' then
    update ${table} set effects = effects - v_at where id = p_id;
    return true;
  end if;
  v_own := v_own || case p_change
    when 'renew' then jsonb_build_object('lease', v_now + p_lease_ms)
    when 'settle' then jsonb_build_object('state', 'settled', 'failed', p_failed, 'outcome', cardinality(v_row.outcomes) + 1)
    when 'doubt' then '{"state": "in_doubt"}'
  end;
  update ${table} set
    keep_until = greatest(keep_until, v_now + p_lease_ms),
    effects = jsonb_set(effects, array[v_at::text], v_own),
    outcomes = case p_change when 'settle' then outcomes || p_value else outcomes end
    where id = p_id;
  return true;
end
$$;`;
}
