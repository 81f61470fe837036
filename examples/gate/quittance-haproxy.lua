-- Asks a gate of Quittance about each request, and copies its answer into the request or to the client.
local GATE = "http://127.0.0.1:8402/authorize"

-- What the API must not get from the client: the payment, and what only the gate says.
local function is_ours(name)
  local known = name:lower():gsub("_", "-")
  return known:find("^quittance%-") or known:find("^x%-settlement%-") or known == "x-payment"
    or known == "x-payment-request-id" or known == "x-quote-refused" or known == "payment-signature"
end

-- Of one connection, or of a body that the gate does not get.
local LEFT_OUT = {
  ["connection"] = true, ["content-length"] = true, ["transfer-encoding"] = true, ["expect"] = true,
  ["upgrade"] = true, ["x-forwarded-method"] = true, ["x-forwarded-uri"] = true,
}

local function authorize(txn)
  local asked = {}
  local sent = txn.http:req_get_headers()
  for name, values in pairs(sent) do
    if not LEFT_OUT[name] then
      asked[name] = {}
      for _, value in pairs(values) do table.insert(asked[name], value) end
    end
  end
  asked["x-forwarded-method"] = { txn.f:method() }
  asked["x-forwarded-uri"] = { txn.f:pathq() }
  asked["x-forwarded-for"] = { txn.f:src() }

  local answer = core.httpclient():get({ url = GATE, headers = asked })
  if answer.status == 200 then
    for name, _ in pairs(sent) do
      if is_ours(name) then txn.http:req_del_header(name) end
    end
    -- A payment of MPP is not for the API. Its own credentials are.
    local credentials = sent["authorization"]
    if credentials and credentials[0]:lower():find("^%s*payment%s") then
      txn.http:req_del_header("authorization")
    end
    for name, values in pairs(answer.headers) do
      if name:find("^quittance%-") then txn.http:req_set_header(name, values[0]) end
    end
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
