import { createHash } from "node:crypto";
import type { Script } from "../stores/index.ts";

/**
 * A row is one hash: field `row` holds its effects as JSON, and each settled effect has its value in a field of its own.
 * The key's own expiry is the row's time. Times are numbers of milliseconds; `%.0f` writes them without an exponent.
 */
const COMMON = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local function keep_until(moment)
  if now + redis.call('PTTL', KEYS[1]) < moment then
    redis.call('PEXPIREAT', KEYS[1], string.format('%.0f', moment))
  end
end
`;

/** The rule of claims, as \`decide\` in rule.ts says it. */
const CLAIM = `${COMMON}
local name, owner, answers = ARGV[1], ARGV[2], cjson.decode(ARGV[3])
local deadline, keep, lease, take_over = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6]), ARGV[7] == '1'

if now > deadline then return {'expired'} end
local saved = redis.call('HGET', KEYS[1], 'row')
local effects = saved and cjson.decode(saved) or {}

local function is_alive(effect) return effect.state == 'running' and effect.lease > now end

local function contradicts(effect)
  for key, digest in pairs(effect.answers) do
    if answers[key] ~= nil and answers[key] ~= digest then return true end
  end
  return false
end

local function outcome(effect)
  return { effect.name, effect.failed, redis.call('HGET', KEYS[1], 'value:' .. effect.name) }
end

local function reply(...)
  keep_until(keep)
  return {...}
end

local own, contradicted, undecided = nil, false, true
for _, effect in ipairs(effects) do
  if contradicts(effect) then
    contradicted = true
    undecided = undecided and is_alive(effect)
  end
  if effect.name == name then own = effect end
end

if contradicted and undecided then return reply('running') end
if contradicted then
  local settled = {}
  for _, effect in ipairs(effects) do
    if effect.state == 'settled' then settled[#settled + 1] = outcome(effect) end
  end
  return reply('conflict', settled)
end
if own and own.state == 'settled' then return reply('settled', { outcome(own) }) end
if own and is_alive(own) then
  if own.owner == owner then return reply('claimed', own.epoch) end
  return reply('running')
end
if own and not take_over then return reply('in_doubt') end

if not own then
  own = { name = name, epoch = 0 }
  effects[#effects + 1] = own
end
own.state, own.owner, own.epoch, own.lease, own.answers = 'running', owner, own.epoch + 1, now + lease, answers
redis.call('HSET', KEYS[1], 'row', cjson.encode(effects))
keep_until(math.max(keep, own.lease))
return { 'claimed', own.epoch }
`;

const CHANGE = `${COMMON}
local operation, name, owner, epoch = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])

local saved = redis.call('HGET', KEYS[1], 'row')
if not saved then return 0 end
local effects = cjson.decode(saved)
for at, effect in ipairs(effects) do
  if effect.name == name and effect.state == 'running' and effect.owner == owner and effect.epoch == epoch then
    local value = {}
    if operation == 'renew' then
      effect.lease = now + tonumber(ARGV[5])
      keep_until(effect.lease)
    elseif operation == 'settle' then
      effect.state, effect.failed = 'settled', tonumber(ARGV[5])
      value = { 'value:' .. name, ARGV[6] }
    elseif operation == 'release' then
      table.remove(effects, at)
    else
      effect.state = 'in_doubt'
    end
    redis.call('HSET', KEYS[1], 'row', cjson.encode(effects), unpack(value))
    return 1
  end
end
return 0
`;

function script(text: string): Script {
  return { text, sha: createHash("sha1").update(text).digest("hex") };
}

export const claimScript: Script = script(CLAIM);
export const changeScript: Script = script(CHANGE);
