-- Asks a gate of Quittance about each request, and copies its answer into the request or to the client.
local GATE = "http://127.0.0.1:8402/authorize"

-- What the gate decides by. HAProxy crashes if more than 101 headers are asked with, so each of these is one. Add the
-- header that free calls are counted by (`by`).
local ASKED_WITH = {
  "host", "range", "accept", "accept-payment", "authorization", "origin", "access-control-request-method",
  "sec-fetch-mode", "sec-fetch-dest", "x-payment-request-id", "x-settlement-id", "x-settlement-token", "x-quote-refused",
  "x-tab-close", "x-tab-usage", "x-payment", "payment-signature", "payment-authorization", "quittance-free",
  "traceparent", "tracestate",
}

-- What the API must not get from the client: the payment, what only the gate says, what proxies say of the caller, and
-- what frameworks take for another path or method.
local REMOVED = {
  "^quittance%-", "^x%-settlement%-", "^x%-payment$", "^x%-payment%-", "^x%-quote%-refused$",
  "^x%-tab%-close$", "^x%-tab%-usage$",
  "^payment%-signature$", "^payment%-authorization$", "^x%-forwarded%-", "^forwarded$", "^x%-real%-ip$",
  "^x%-original%-", "^x%-rewrite%-", "^x%-http%-method", "^x%-method%-override$", "^x%-envoy%-original%-path$",
  "^x%-matched%-path$",
}

local function is_removed(name)
  -- Servers that map headers to variables take all but letters and digits for the same character.
  local known = name:lower():gsub("[^a-z0-9]", "-")
  for _, pattern in ipairs(REMOVED) do
    if known:find(pattern) then return true end
  end
  return false
end

local function joined(values, separator)
  local all = {}
  for at = 0, #values do table.insert(all, values[at]) end
  return table.concat(all, separator)
end

-- The cookies in which browsers keep a payment.
local function payments_in(cookies)
  local found = {}
  for each in joined(cookies, ";"):gmatch("[^;%s]+") do
    if each:find("^quittance_") then table.insert(found, each) end
  end
  return table.concat(found, "; ")
end

local LEFT_OUT = { ["connection"] = true, ["content-length"] = true, ["transfer-encoding"] = true }

local function authorize(txn)
  local sent = txn.http:req_get_headers()
  local asked = {
    ["x-forwarded-method"] = { txn.f:method() },
    ["x-forwarded-uri"] = { txn.f:pathq() },
    ["x-forwarded-for"] = { txn.f:src() },
  }
  for _, name in ipairs(ASKED_WITH) do
    if sent[name] then asked[name] = { joined(sent[name], ", ") } end
  end
  if sent["cookie"] then asked["cookie"] = { payments_in(sent["cookie"]) } end

  local answer = core.httpclient():get({ url = GATE, headers = asked })
  if answer.status == 200 then
    for name, _ in pairs(sent) do
      if is_removed(name) then txn.http:req_del_header(name) end
    end
    -- A payment of MPP is not for the API. Its own credentials are.
    local credentials = sent["authorization"]
    if credentials and credentials[0]:lower():find("^%s*payment%s") then
      txn.http:req_del_header("authorization")
    end
    for name, values in pairs(answer.headers) do
      if name:find("^quittance%-") then txn.http:req_set_header(name, values[0]) end
    end
    -- The last step. Without it haproxy.cfg refuses the request, whatever went wrong before.
    txn:set_var("txn.quittance", "passed")
    return
  end

  local reply = txn:reply({ status = answer.status == 0 and 503 or answer.status, body = answer.body or "" })
  for name, values in pairs(answer.headers or {}) do
    if not LEFT_OUT[name] then
      for _, value in pairs(values) do reply:add_header(name, value) end
    end
  end
  txn:done(reply)
end

core.register_action("quittance", { "http-req" }, authorize)
